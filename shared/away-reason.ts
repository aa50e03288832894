/** Reason of a database outage, without the statement of the outage itself. */
export function awayReason(error: string): string {
  return error.replace(/^the database cannot be reached: /i, '')
}
