# Sourced: `remove_at_end FOLDER` removes the folder when the script ends, by a signal, too.
remove_at_end() {
    folder_to_remove=$1
    trap 'rm -rf "$folder_to_remove"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
