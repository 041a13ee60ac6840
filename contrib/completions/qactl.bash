# Completion of qactl for bash: 'qactl complete' knows commands, options and the targets of now.

_qactl()
{
	local cur words cword line candidate quoted

	COMPREPLY=()
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword
	else
		cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
	fi
	while IFS= read -r line; do
		candidate=${line%%$'\t'*}
		case $line in
		$'\tfile') compopt -o default ;;
		$'\tprogram') mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
		*)
			printf -v quoted %q "$candidate"
			[[ $candidate == "$cur"* || $quoted == "$cur"* ]] && COMPREPLY+=("$quoted")
			;;
		esac
	done < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1:cword}" 2>/dev/null)
	if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}

complete -F _qactl qactl
