/** People in rooms with remote media, with the program that each came through. */
export class GatewayPeople {
  /** Program by room and user. */
  readonly #people = new Map<string, Map<string, string>>()
  /** People who are leaving, by room: their node still lists them. */
  readonly #going = new Map<string, Set<string>>()

  /** Program that a user came through; undefined: none, or the user left. */
  gatewayOf(roomId: string, userId: string): string | undefined {
    return this.#people.get(roomId)?.get(userId)
  }

  entered(roomId: string, userId: string, gateway: string): void {
    const people = this.#people.get(roomId) ?? new Map<string, string>()
    this.#people.set(roomId, people.set(userId, gateway))
    this.reported(roomId, userId)
  }

  /** Notes that a user left. @param listed their node still lists them @returns the program they came through */
  forget(roomId: string, userId: string, listed: boolean): string | undefined {
    const people = this.#people.get(roomId)
    const gateway = people?.get(userId)
    people?.delete(userId)
    if (people?.size === 0) this.#people.delete(roomId)
    if (listed) {
      const going = this.#going.get(roomId) ?? new Set<string>()
      this.#going.set(roomId, going.add(userId))
    }
    return gateway
  }

  /** Whether a user left while their node still lists them. */
  isGoing(roomId: string, userId: string): boolean {
    return this.#going.get(roomId)?.has(userId) === true
  }

  /** Notes that their node reported a change of this user. */
  reported(roomId: string, userId: string): void {
    const going = this.#going.get(roomId)
    going?.delete(userId)
    if (going?.size === 0) this.#going.delete(roomId)
  }

  /** All users who came through a program. */
  through(gateway: string): { roomId: string; userId: string }[] {
    return [...this.#people].flatMap(([roomId, people]) =>
      [...people].flatMap(([userId, by]) => (by === gateway ? [{ roomId, userId }] : [])),
    )
  }
}
