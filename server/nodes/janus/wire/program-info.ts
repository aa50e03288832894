import type { NodeProgram } from '../../port/media-node-port.ts'
import type { NodeTraits, Traits } from './node-traits.ts'

/** Facts about a Janus for the console: version and plugins at the last reading, and whether its events arrive. */
export class ReportedProgram {
  readonly #traits: Pick<NodeTraits, 'current'>
  readonly #clock: () => number
  readonly #changed: () => void
  #sendsEvents = false
  #eventsSince: number
  /** Traits at the last event. */
  #shown: Traits | undefined

  /** @param clock milliseconds since the epoch @param changed called when the facts changed */
  constructor(traits: Pick<NodeTraits, 'current'>, clock: () => number, changed: () => void) {
    this.#traits = traits
    this.#clock = clock
    this.#changed = changed
    this.#eventsSince = clock()
  }

  /** Undefined until it was read once. */
  get value(): NodeProgram | undefined {
    const { version, plugins } = this.#traits.current
    return version === '' ? undefined : { version, plugins, tells: this.#sendsEvents, eventsSince: this.#eventsSince }
  }

  /** Its events arrive from now on, or no longer. */
  reporting(tells: boolean): void {
    if (tells === this.#sendsEvents) return
    this.#sendsEvents = tells
    this.#eventsSince = this.#clock()
    this.#changed()
  }

  /** Notes an answer: it may have restarted as another version. */
  review(): void {
    const { current } = this.#traits
    const { version, plugins } = current
    if (version === '' || (version === this.#shown?.version && plugins.join() === this.#shown.plugins.join())) return
    this.#shown = current
    this.#changed()
  }
}
