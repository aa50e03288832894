import { MediaRefusal, roomMediaBy } from '../../../shared/media/room-media.ts'
import { guarded } from '../port/guarded.ts'
import type { NodeEvent } from '../port/media-node-port.ts'
import type { ProcessHandlers } from './control-client.ts'
import type { EmbeddedMediaOptions } from './embedded-media-options.ts'

type Receivers = Pick<
  EmbeddedMediaOptions,
  'answers' | 'failed' | 'gateway' | 'guessed' | 'hostActed' | 'logger' | 'reached' | 'recorder' | 'removed' | 'waiting'
>

/** Passes the messages of the process of one node to their receivers. */
export class ProcessEvents {
  readonly #node: string
  readonly #receivers: Receivers
  readonly #emit: (event: NodeEvent) => void

  /** @param emit emits an event of the node's driver */
  constructor(node: string, receivers: Receivers, emit: (event: NodeEvent) => void) {
    this.#node = node
    this.#receivers = receivers
    this.#emit = emit
  }

  handlers(): Omit<ProcessHandlers, 'ffmpeg'> {
    const node = this.#node
    const { answers, gateway, guessed, hostActed, reached, recorder, removed, waiting } = this.#receivers
    return {
      joined: (joined) => this.#emit({ type: 'joined', ...joined }),
      left: (left) => this.#emit({ type: 'left', ...left }),
      deviceLost: (lost) => this.#emit({ type: 'deviceLost', ...lost }),
      streamShort: (short) => this.#emit({ type: 'streamShort', ...short }),
      enter_room: (wanted) => answers.open(wanted, node),
      look_at_room: (looked) => answers.look(looked),
      lock_room: async (wanted) => ({ done: await answers.lock(wanted) }),
      make_invitation: async (wanted) => {
        const url = await answers.invite(wanted)
        return url === undefined ? {} : { url }
      },
      record_room: async (wanted) => ({ done: await answers.record(wanted) }),
      test_person_entry: async (wanted) => answers.testEntry(wanted),
      ...roomMediaBy(async (method, params) => {
        if (gateway === undefined) throw new MediaRefusal('busy')
        return await gateway().call(node, method, params)
      }),
      remoteEntered: (entered) => gateway?.().entered(node, entered),
      remoteLeft: (left) => gateway?.().left(node, left),
      remoteMuted: (muted) => gateway?.().muted(node, muted),
      hostActed: (acted) => hostActed?.(acted),
      waiting: (report) => waiting?.take(node, report),
      guesses: (guesses) => guessed(guesses),
      pageReached: (visit) => reached?.(visit),
      recorder: ({ event }) => recorder?.().intake?.take(node, event),
      removed: ({ userName, by, ...removal }) => removed(removal, userName, by),
    }
  }

  /** Reports that the process ended, or that a new process started. */
  restarted(): void {
    const { gateway, recorder, waiting } = this.#receivers
    this.#guarded(() => gateway?.().restarted(this.#node))
    this.#guarded(() => waiting?.restarted(this.#node))
    this.#guarded(() => recorder?.().restarted(this.#node))
    this.#guarded(() => this.#emit({ type: 'restarted' }))
  }

  /** Reports the reason why the process ended, hung or could not be started. */
  failed(why: string): void {
    this.#guarded(() => this.#receivers.failed?.(this.#node, why))
  }

  #guarded(run: () => void): void {
    guarded(this.#receivers.logger, 'a listener of the embedded node failed', run)
  }
}
