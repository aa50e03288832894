/** Why the database cannot be reached, without saying again that it cannot. */
export function awayReason(error: string): string {
  return error.replace(/^the database cannot be reached: /i, '')
}
