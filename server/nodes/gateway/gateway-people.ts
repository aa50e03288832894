/** Who came into which room through which program. */
export class GatewayPeople {
  /** Program by room and user. */
  readonly #people = new Map<string, Map<string, string>>()
  /** Those who came through a program and go, by room: their node has not said yet that they are out. */
  readonly #going = new Map<string, Set<string>>()

  /** The program through which somebody came; undefined: they did not, or left. */
  gatewayOf(roomId: string, userId: string): string | undefined {
    return this.#people.get(roomId)?.get(userId)
  }

  came(roomId: string, userId: string, gateway: string): void {
    const people = this.#people.get(roomId) ?? new Map<string, string>()
    this.#people.set(roomId, people.set(userId, gateway))
    this.told(roomId, userId)
  }

  /** They are no longer there. @param listed their node still says that they are @returns the program they came through */
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

  /** Those who came through a program and go, and whom their node still lists. */
  isGoing(roomId: string, userId: string): boolean {
    return this.#going.get(roomId)?.has(userId) === true
  }

  /** Their node told of them: they are out, or in anew. */
  told(roomId: string, userId: string): void {
    const going = this.#going.get(roomId)
    going?.delete(userId)
    if (going?.size === 0) this.#going.delete(roomId)
  }

  /** Everybody who came through a program. */
  through(gateway: string): { roomId: string; userId: string }[] {
    return [...this.#people].flatMap(([roomId, people]) =>
      [...people].flatMap(([userId, by]) => (by === gateway ? [{ roomId, userId }] : [])),
    )
  }
}
