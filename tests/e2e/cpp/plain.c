/* qa.h from C, with every inline way in it. */
#include <qa.h>
#include <stdio.h>

struct point {
	double x, y, z;
};

int main(int argc, char **argv)
{
	size_t count = (size_t)argc;
	(void)argv;
	struct point *one = qa_alloc(sizeof *one, _Alignof(struct point));
	struct point *several = qa_alloc(count * sizeof *several, _Alignof(struct point));
	char *text = qa_alloc(count * 100, 1);
	void *wide = qa_alloc(count * 100, 64), *sixteen = qa_alloc(count * 100, 16);
	struct qa_pool *pool = qa_pool_create("points", sizeof(struct point), _Alignof(struct point));
	if (!one || !several || !text || !wide || !sixteen || !pool)
		return 1;
	struct point *pooled = qa_pool_alloc(pool);
	if (!pooled)
		return 2;
	qa_pool_free(pool, pooled);
	qa_dealloc(one, sizeof *one, _Alignof(struct point));
	qa_dealloc(several, count * sizeof *several, _Alignof(struct point));
	qa_dealloc(text, count * 100, 1);
	qa_dealloc(wide, count * 100, 64);
	qa_dealloc(sixteen, count * 100, 16);
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	if (qa_pool_destroy(pool) != 0 || stats.used_bytes != 0)
		return 3;
	return puts("ok") < 0;
}
