import type { NodeProgram } from '../../port/media-node-port.ts'
import type { NodeTraits, Traits } from './node-traits.ts'

/** Facts about a Janus for the console: its version and plugins when last read, and whether its events arrive. */
export class ReportedProgram {
  readonly #traits: Pick<NodeTraits, 'current'>
  readonly #clock: () => number
  readonly #changed: () => void
  #sendsEvents = false
  #eventsSince: number
  /** Traits at the last notification. */
  #shown: Traits | undefined

  /**
   * @param clock returns milliseconds since the epoch
   * @param changed called when the facts changed
   */
  constructor(traits: Pick<NodeTraits, 'current'>, clock: () => number, changed: () => void) {
    this.#traits = traits
    this.#clock = clock
    this.#changed = changed
    this.#eventsSince = clock()
  }

  /** Facts about the program; undefined until its version was read once. */
  get value(): NodeProgram | undefined {
    const { version, plugins } = this.#traits.current
    return version === '' ? undefined : { version, plugins, tells: this.#sendsEvents, eventsSince: this.#eventsSince }
  }

  /** Sets whether events of the node arrive. */
  reporting(tells: boolean): void {
    if (tells === this.#sendsEvents) return
    this.#sendsEvents = tells
    this.#eventsSince = this.#clock()
    this.#changed()
  }

  /** Notifies if the traits differ from the last notification. The node may have restarted with another version. */
  review(): void {
    const { current } = this.#traits
    const { version, plugins } = current
    if (version === '' || (version === this.#shown?.version && plugins.join() === this.#shown.plugins.join())) return
    this.#shown = current
    this.#changed()
  }
}
