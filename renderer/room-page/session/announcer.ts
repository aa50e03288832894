import { ref, shallowReactive } from 'vue'
import { type Reaction, reactions } from '../../../shared/media/reactions.ts'
import { remember, remembered } from '../local/remembered.ts'
import { listed, plural, texts } from '../texts/texts.ts'

/** Event of a user. */
export type PersonEvent = 'joined' | 'left' | 'hand' | 'speaks' | Reaction

/** Time in which events are collected into one announcement, and minimum interval of announcements, in milliseconds. */
const gatherMs = 1_200
const spacingMs = 4_000
/** Duration for which the text stays in the page, in milliseconds. */
const stayMs = 8_000
/** Maximum number of users who are named; more are only counted. */
const maxNamed = 3
/** Time after which a user in a conversation is announced again as speaking, in milliseconds. */
const speaksAgainMs = 60_000
/** Maximum number of users whose last announcement is stored. */
const maxSpoke = 256

/** Announces events of users to screen readers, in batches: many joins become one sentence. */
export class Announcer {
  /** Text of the ARIA live region. */
  readonly text = ref('')
  readonly wish = shallowReactive({ people: remembered().announcesPeople, speakers: remembered().announcesSpeakers })
  /** Names by event, since the last announcement. */
  readonly #gathered = new Map<PersonEvent, Set<string>>()
  readonly #spokeAt = new Map<string, number>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #clearing: ReturnType<typeof setTimeout> | undefined
  #lastAt = Number.NEGATIVE_INFINITY

  /** Changes which events are announced, for later visits as well. */
  choose(wish: Partial<typeof this.wish>): void {
    Object.assign(this.wish, wish)
    remember({ announcesPeople: this.wish.people, announcesSpeakers: this.wish.speakers })
  }

  /** Adds an event to the next announcement. */
  tell(event: PersonEvent, name: string): void {
    if (event === 'speaks' ? !this.wish.speakers || !this.#isNews(name) : !this.wish.people) return
    // A user who joined and left within one batch is not announced.
    if (event === 'left' && this.#gathered.get('joined')?.delete(name) === true) return
    const names = this.#gathered.get(event) ?? new Set()
    this.#gathered.set(event, names.add(name))
    this.#timer ??= setTimeout(() => this.#say(), Math.max(gatherMs, this.#lastAt + spacingMs - performance.now()))
  }

  /** Clears all pending announcements at the end of the visit. */
  clear(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#clearing)
    this.#timer = undefined
    this.#gathered.clear()
    this.#spokeAt.clear()
    this.text.value = ''
  }

  #isNews(name: string): boolean {
    const now = performance.now()
    const last = this.#spokeAt.get(name) ?? Number.NEGATIVE_INFINITY
    if (this.#spokeAt.size >= maxSpoke) this.#spokeAt.clear()
    this.#spokeAt.set(name, now)
    return now - last > speaksAgainMs
  }

  #say(): void {
    this.#timer = undefined
    this.#lastAt = performance.now()
    const sentences = Array.from(this.#gathered, ([event, names]) =>
      names.size === 0 ? '' : sentence(event, [...names]),
    )
    this.#gathered.clear()
    this.text.value = sentences.filter((each) => each !== '').join('. ')
    clearTimeout(this.#clearing)
    this.#clearing = setTimeout(() => (this.text.value = ''), stayMs)
  }
}

function sentence(event: PersonEvent, names: readonly string[]): string {
  const { announced, reactions: words } = texts.value
  const form = isReaction(event) ? 'reacted' : event
  const text = names.length > maxNamed ? announced[`${form}Many`] : announced[form]
  const reaction = isReaction(event) ? words[event] : ''
  return plural(text, names.length, { names: listed(names), reaction })
}

function isReaction(event: PersonEvent): event is Reaction {
  return reactions.some((each) => each === event)
}
