import type { Person } from '../../../shared/media/signal.ts'

/** Maximum number of lost cameras kept per room; the oldest is dropped. */
const maxCameras = 256

/** Cameras that were lost and are expected back. They take up no place in the room, but stay visible to its members. */
export class LostCameras {
  readonly #people = new Map<string, Person>()

  get people(): Person[] {
    return [...this.#people.values()]
  }

  has(userId: string): boolean {
    return this.#people.has(userId)
  }

  add(person: Person): void {
    this.#people.set(person.user_id, person)
    for (const first of this.#people.keys()) {
      if (this.#people.size <= maxCameras) break
      this.#people.delete(first)
    }
  }

  /** Removes a camera that has returned or was removed permanently. Returns whether the camera was lost. */
  delete(userId: string): boolean {
    return this.#people.delete(userId)
  }
}
