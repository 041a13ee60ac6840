/*
 * C++'s operator new and the sized operator delete of whatever library is loaded, by their symbols, so that C reaches
 * them. Only the constant sizes are measured with them.
 */

void *operator_new(size_t size) __asm__("_Znwm");
void operator_delete_sized(void *block, size_t size) __asm__("_ZdlPvm");

#define ADAPTER_ALLOC(size) operator_new(size)
#define ADAPTER_FREE(block, size) operator_delete_sized(block, size)
