import type { ControlEvent, ControlParams } from '../../../shared/media/control.ts'
import { inBackground } from '../../../shared/unawaited.ts'
import { isGatewayEvent } from '../port/gateway-events.ts'
import { guarded } from '../port/guarded.ts'
import type { NodeEvent } from '../port/media-node-port.ts'
import type { ControlClient } from './control-client.ts'
import type { EmbeddedMediaOptions } from './embedded-media-options.ts'

/** Deadline of an answer to the process, in milliseconds. */
const answerMs = 4_000

/** Options that events of a process are passed to. */
export type EventTargets = Pick<
  EmbeddedMediaOptions,
  'answers' | 'failed' | 'gateway' | 'guessed' | 'hostActed' | 'logger' | 'reached' | 'recorder' | 'removed' | 'waiting'
>

/** Passes on the events of the process of one node, and answers its requests. */
export class ProcessEvents {
  readonly #node: string
  readonly #targets: EventTargets
  readonly #client: (signal: AbortSignal) => Promise<ControlClient>
  readonly #emit: (event: NodeEvent) => void

  /**
   * @param client connection to the process, for answers
   * @param emit takes the events of the node's port
   */
  constructor(
    node: string,
    targets: EventTargets,
    client: (signal: AbortSignal) => Promise<ControlClient>,
    emit: (event: NodeEvent) => void,
  ) {
    this.#node = node
    this.#targets = targets
    this.#client = client
    this.#emit = emit
  }

  /** Takes an event of the process. */
  take(event: ControlEvent): void {
    const { guessed, hostActed, removed } = this.#targets
    if (event.type === 'removed') {
      const { type: _, userName, by, ...removal } = event
      removed(removal, userName, by)
    } else if (event.type === 'roomWanted') {
      this.#inBackground(this.#answerWanted(event))
    } else if (event.type === 'roomLooked') {
      this.#inBackground(this.#answerLook(event))
    } else if (event.type === 'lockWanted') {
      this.#inBackground(this.#answerLock(event))
    } else if (event.type === 'inviteWanted') {
      this.#inBackground(this.#answerInvite(event))
    } else if (event.type === 'recordingWanted') {
      this.#inBackground(this.#answerRecording(event))
    } else if (event.type === 'hostActed') {
      const { type: _, ...acted } = event
      hostActed?.(acted)
    } else if (event.type === 'pageReached') {
      this.#guarded(() => this.#targets.reached?.(event))
    } else if (event.type === 'guesses') {
      guessed(event)
    } else if (event.type === 'waiting') {
      this.#guarded(() => this.#targets.waiting?.take(this.#node, event))
    } else if (event.type === 'recorder') {
      this.#guarded(() => this.#targets.recorder?.take(this.#node, event.event))
    } else if (isGatewayEvent(event)) {
      this.#guarded(() => this.#targets.gateway?.take(this.#node, event))
    } else this.#emit(event)
  }

  /** Announces that the process ended, or another one runs. */
  restarted(): void {
    this.#guarded(() => this.#targets.gateway?.restarted(this.#node))
    this.#guarded(() => this.#targets.waiting?.restarted(this.#node))
    this.#guarded(() => this.#targets.recorder?.restarted(this.#node))
    this.#emit({ type: 'restarted' })
  }

  /** Announces that the process ended, hung or could not be started. */
  failed(why: string): void {
    this.#targets.failed?.(this.#node, why)
  }

  async #answerWanted({ id, ...wanted }: Extract<ControlEvent, { type: 'roomWanted' }>): Promise<void> {
    await this.#answer('answer_room', { id, ...(await this.#targets.answers.open(wanted, this.#node)) })
  }

  async #answerLook({ id, ...looked }: Extract<ControlEvent, { type: 'roomLooked' }>): Promise<void> {
    await this.#answer('answer_look', { id, look: await this.#targets.answers.look(looked) })
  }

  async #answerInvite({ id, ...wanted }: Extract<ControlEvent, { type: 'inviteWanted' }>): Promise<void> {
    const url = await this.#targets.answers.invite(wanted)
    await this.#answer('answer_invite', { id, ...(url === undefined ? {} : { url }) })
  }

  async #answerLock({ id, ...wanted }: Extract<ControlEvent, { type: 'lockWanted' }>): Promise<void> {
    await this.#answer('answer_lock', { id, done: await this.#targets.answers.lock(wanted) })
  }

  async #answerRecording({ id, ...wanted }: Extract<ControlEvent, { type: 'recordingWanted' }>): Promise<void> {
    await this.#answer('answer_recording', { id, done: await this.#targets.answers.record(wanted) })
  }

  async #answer<M extends 'answer_room' | 'answer_look' | 'answer_lock' | 'answer_invite' | 'answer_recording'>(
    method: M,
    params: ControlParams<M>,
  ): Promise<void> {
    try {
      const signal = AbortSignal.timeout(answerMs)
      await (await this.#client(signal)).request(method, params, signal)
    } catch (error) {
      // The process ended or hangs: nobody waits there any more.
      this.#targets.logger.debug({ err: error }, 'the embedded node did not take an answer')
    }
  }

  #inBackground(answer: Promise<void>): void {
    inBackground(answer, 'a request of the embedded node was not answered', this.#targets.logger)
  }

  #guarded(run: () => void): void {
    guarded(this.#targets.logger, 'a listener of the embedded node failed', run)
  }
}
