/** Returns the reason of a database outage, without the prefix `the database cannot be reached: `. */
export function awayReason(error: string): string {
  return error.replace(/^the database cannot be reached: /i, '')
}
