/** The lock that every change of a room, and of an outgoing user in it, holds. */
export function lockOf(roomId: string): string {
  return `rooms/${roomId}`
}
