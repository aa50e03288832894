import { shallowReactive } from 'vue'
import type { Person, WaitingPerson } from '../../../shared/media/signal.ts'
import type { Notices } from './notices.ts'
import type { RoomView } from './room-view.ts'
import { Unsure } from './unsure.ts'

/** Users of the room, disconnected cameras, and users who wait for admission. */
export class Roster {
  readonly people = shallowReactive(new Map<string, Person>())
  /** Disconnected cameras that are expected to return. */
  readonly lostCameras = shallowReactive(new Map<string, Person>())
  readonly #unsure = new Unsure()
  readonly #view: RoomView
  readonly #notices: Notices

  constructor(view: RoomView, notices: Notices) {
    this.#view = view
    this.#notices = notices
  }

  /**
   * Sets the present users. @param settles the node's list may still be incomplete: missing users are removed later
   * unless the node reports them; otherwise immediately
   */
  enter(people: readonly Person[], lostCameras: readonly Person[], settles = false): void {
    const named = new Set(people.map(({ user_id }) => user_id))
    const others = [...this.people.keys()].filter((userId) => !named.has(userId))
    this.#unsure.clear()
    if (settles) this.#unsure.begin(others, (left) => left.forEach((userId) => this.left(userId, false)))
    else this.people.clear()
    this.lostCameras.clear()
    for (const person of people) this.people.set(person.user_id, person)
    for (const camera of lostCameras) this.lostCameras.set(camera.user_id, camera)
  }

  came(person: Person): void {
    this.people.set(person.user_id, person)
    // For the other users, this user never left.
    if (this.#unsure.delete(person.user_id)) return
    // A returned camera keeps its tile, so it is not announced as new.
    if (!this.lostCameras.delete(person.user_id)) this.#notices.tell('joined', { name: person.user_name })
  }

  changed(person: Person): void {
    this.#unsure.delete(person.user_id)
    const before = this.people.get(person.user_id)
    const own = person.user_id === this.#view.you?.user_id
    if (!own && person.hand > 0 && before?.hand === 0) this.#notices.tell('handRaised', { name: person.user_name })
    this.people.set(person.user_id, person)
    if (own) this.#view.you = person
  }

  /** @param lost the user is a camera that is expected to return */
  left(userId: string, lost: boolean): void {
    const person = this.people.get(userId)
    this.people.delete(userId)
    this.lostCameras.delete(userId)
    if (person === undefined) return
    if (lost) this.lostCameras.set(userId, person)
    else this.#notices.tell('left', { name: person.user_name })
  }

  /** Sets the waiting guests, as reported to a host. */
  wait(guests: readonly WaitingPerson[]): void {
    const known = new Set(this.#view.guests.map(({ user_id }) => user_id))
    this.#view.guests = guests
    for (const { user_id, user_name } of guests) {
      if (!known.has(user_id)) this.#notices.tell('waits', { name: user_name })
    }
  }
}
