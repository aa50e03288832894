/** Text that a command prints on stdout, and the exit code of its process. */
export interface Report {
  text: string
  code: number
}
