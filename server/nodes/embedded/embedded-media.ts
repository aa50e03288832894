import type { ControlEvent, ControlParams, OutgoingId, Removal } from '../../../shared/media/control.ts'
import { tryPort } from '../../edge/try-port.ts'
import { unlessAborted } from '../port/deadline.ts'
import { guarded } from '../port/guarded.ts'
import { type MediaNode, NodeConnectionError, type NodeEvent } from '../port/media-node-port.ts'
import type { StoredNode } from '../../store/records.ts'
import { isGatewayEvent } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { ControlClient } from './control-client.ts'
import type { EmbeddedMediaOptions, MediaPlace } from './embedded-media-options.ts'
import { EmbeddedNode } from './embedded-node.ts'
import { MediaSupervisor } from './media-supervisor.ts'

/** Somebody who wants the process. */
interface Claim {
  node: StoredNode
  listeners: Set<(event: NodeEvent) => void>
}

/** The process that serves one node at one place. */
interface Service {
  owner: string
  place: MediaPlace
  udpPort: number
  supervisor: MediaSupervisor
  /** The outcome of the first start. */
  started: Promise<void>
}

/** Deadline of the count of connections, in milliseconds. */
const countMs = 500
/** Milliseconds that the process has to end in order when its node goes or moves. */
const stopMs = 3_000
/** Milliseconds that the process is given to take an answer. */
const answerMs = 4_000

/**
 * One process of an embedded node: it runs while there is a place to listen and a node that wants it. Who owns the place says where, the pool's drivers say that
 * it is wanted.
 */
export class EmbeddedMedia {
  readonly #options: EmbeddedMediaOptions
  /** Who wants the process, in the order they came; the first one's name is whom it serves. */
  readonly #claims: Claim[] = []
  #pageFor: StoredNode | undefined
  readonly #changes = new Set<() => void>()
  readonly #firstPlace = Promise.withResolvers<void>()
  /** The node port is being opened for it; undefined when it is not. */
  #opening: Promise<void> | undefined
  #place: MediaPlace | undefined
  #service: Service | undefined
  /** Starts and stops follow each other. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: EmbeddedMediaOptions) {
    this.#options = options
  }

  /** The name of the node it serves; undefined when none wants it. */
  get owner(): string | undefined {
    return this.#served?.name
  }

  /** The node that it serves; where none wants it, the one for which it only shows the room page. */
  get #served(): StoredNode | undefined {
    return this.#claims[0]?.node ?? this.#pageFor
  }

  /** Where it listens; undefined while it does not. The port is the real one. */
  get place(): MediaPlace | undefined {
    const port = this.#service?.supervisor.ports?.port
    return port === undefined || this.#service === undefined ? undefined : { ...this.#service.place, port }
  }

  /** Of the process; undefined when none runs. */
  get pid(): number | undefined {
    return this.#service?.supervisor.pid
  }

  /** Resolves when what was begun is done: the process runs, or has ended. Never rejects. */
  async settled(): Promise<void> {
    await Promise.resolve()
    await this.#work
  }

  /** Called when a node begins or ceases to want the process. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  /**
   * Listens there from now on, as soon as a node wants it; resolves when it does.
   * @throws what the first start failed with, after which it is tried again in the background; `stopListening` ends that
   */
  async listen(place: MediaPlace): Promise<void> {
    this.#place = place
    this.#firstPlace.resolve()
    await this.#settle()
    await this.#service?.started
  }

  /** Somebody is about to let it listen: who wants to talk to it meanwhile waits for that. */
  opens(work: Promise<void>): void {
    const opening = work
      .catch(() => {})
      .finally(() => {
        if (this.#opening === opening) this.#opening = undefined
      })
    this.#opening = opening
  }

  /** Listens nowhere; the process ends. */
  async stopListening(milliseconds = stopMs): Promise<void> {
    this.#place = undefined
    await this.#settle(milliseconds)
  }

  /** New connections are given this certificate; those that are open go on. */
  async secure(tls: NonNullable<MediaPlace['tls']>): Promise<void> {
    if (this.#place !== undefined) this.#place.tls = tls
    await this.#service?.supervisor.tell('set_certificate', tls)
  }

  /** Somebody was taken out of a room by another process. */
  async noteRemoval(removal: Removal): Promise<void> {
    await this.#service?.supervisor.tell('note_removal', removal)
  }

  /** An outgoing user was made, moved or deleted. */
  async noteOutgoing(outgoing: OutgoingId): Promise<void> {
    await this.#service?.supervisor.tell('note_outgoing', outgoing)
  }

  /** Open connections of the process. @throws NodeConnectionError; what the request failed with */
  async connections(): Promise<number> {
    const signal = AbortSignal.timeout(countMs)
    return (await (await this.client(signal)).request('connections', {}, signal)).connections
  }

  /** Shows the room page for this node, which has none, while no other wants the process; undefined: for none. */
  showPageFor(node: StoredNode | undefined): void {
    if (this.#pageFor?.name === node?.name) return
    this.#pageFor = node
    // What fails was logged.
    this.#claimsChanged().catch(() => {})
  }

  /** A driver for this node. */
  driver(node: StoredNode): MediaNode {
    const claim: Claim = { node, listeners: new Set() }
    this.#claims.push(claim)
    // What fails was logged.
    this.#claimsChanged().catch(() => {})
    return new EmbeddedNode({
      client: (signal) => this.client(signal, node.name),
      listeners: claim.listeners,
      release: async () => {
        const index = this.#claims.indexOf(claim)
        if (index === -1) return
        this.#claims.splice(index, 1)
        await this.#claimsChanged()
      },
    })
  }

  /**
   * The connection to the process; waits for one that starts.
   * @param name of the node that asks; left out: whichever it serves
   * @throws NodeConnectionError; the signal's reason
   */
  async client(signal: AbortSignal, name = this.owner): Promise<ControlClient> {
    if (name !== undefined && name !== this.owner) {
      throw new NodeConnectionError(`its port is that of the node ${this.owner ?? 'that was there before'}`)
    }
    // At the start nodes are asked a moment before their port is opened.
    if (this.#place === undefined) await unlessAborted(this.#firstPlace.promise, signal)
    if (this.#opening !== undefined) await unlessAborted(this.#opening, signal)
    if (this.#service?.owner !== name) await unlessAborted(this.#work, signal)
    if (this.#place === undefined) throw new NodeConnectionError('the node port is closed')
    if (name === undefined || this.#service?.owner !== name) throw new NodeConnectionError('it does not run')
    return this.#service.supervisor.client(signal)
  }

  /** The settings or the node's addresses may have changed: the process is told. */
  configure(): void {
    const service = this.#service
    const node = this.#served
    if (node === undefined || service?.owner !== node.name) return
    const { settings, udpPort } = this.#options.configuration(node)
    if (udpPort !== service.udpPort) {
      service.udpPort = udpPort
      this.#options.logger.info({ udp_port: udpPort }, 'the UDP port changes: the embedded node starts anew')
      void service.supervisor.restart()
    } else void service.supervisor.configure(settings)
  }

  #claimsChanged(): Promise<void> {
    for (const listener of this.#changes) this.#guarded(listener)
    return this.#settle()
  }

  /** Makes the process be what is wanted now. */
  #settle(milliseconds = stopMs): Promise<void> {
    const step = this.#work.then(() => this.#step(milliseconds))
    // One step that fails does not keep the next from being made.
    this.#work = step.catch((error: unknown) =>
      this.#options.logger.error({ err: error }, 'the embedded node could not be started or ended'),
    )
    return step
  }

  #guarded(run: () => void): void {
    guarded(this.#options.logger, 'a listener of the embedded node failed', run)
  }

  async #step(milliseconds: number): Promise<void> {
    const node = this.#served
    const place = this.#place
    const before = this.#service
    if (before !== undefined && (before.owner !== node?.name || before.place !== place)) {
      await before.supervisor.stop(milliseconds)
      this.#service = undefined
    }
    if (this.#service !== undefined || node === undefined || place === undefined) return
    const service = this.#serve(node, place)
    this.#service = service
    service.started = service.supervisor.start()
    // Whoever gave the place waits for it; after that it is the supervisor's to mend.
    service.started.catch(() => {})
  }

  #serve(node: StoredNode, place: MediaPlace): Service {
    const {
      spawn,
      pageFolder,
      ffmpeg,
      passedOn,
      configuration,
      removals,
      removed,
      guessed,
      hangsAfterMs,
      looksAtPort,
    } = this.#options
    const supervisor = new MediaSupervisor({
      spawn,
      ffmpeg,
      logger: naming(node.name, this.#options.logger),
      hangsAfterMs,
      mayStart: looksAtPort ? () => assertPortFree(place) : undefined,
      start: (ports) => {
        const { tokenKey, udpPort, settings } = configuration(node)
        service.udpPort = udpPort
        return {
          version: 1,
          host: place.host,
          port: place.port === 0 ? (ports?.port ?? 0) : place.port,
          udp_port: udpPort,
          tls: place.tls,
          token_key: tokenKey,
          passed_on: passedOn && { ...passedOn, key: passedOn.key.toString('base64') },
          page_folder: pageFolder,
          settings,
          removals: [...removals()],
          outgoing: this.#options.outgoing?.(),
        }
      },
      onEvent: (event) => {
        if (event.type === 'removed') {
          const { type: _, userName, by, ...removal } = event
          removed(removal, userName, by)
        } else if (event.type === 'roomWanted') {
          void this.#answerWanted(supervisor, node.name, event)
        } else if (event.type === 'roomLooked') {
          void this.#answer(supervisor, 'answer_look', { id: event.id, look: this.#options.answers.look(event) })
        } else if (event.type === 'lockWanted') {
          void this.#answerLock(supervisor, event)
        } else if (event.type === 'hostActed') {
          const { type: _, ...acted } = event
          this.#options.hostActed?.(acted)
        } else if (event.type === 'guesses') {
          guessed(event)
        } else if (isGatewayEvent(event)) {
          this.#guarded(() => this.#options.gateway?.take(node.name, event))
        } else this.#emit(node.name, event)
      },
      onRestart: () => {
        this.#guarded(() => this.#options.gateway?.restarted(node.name))
        this.#emit(node.name, { type: 'restarted' })
      },
      onFailure: (why) => this.#options.failed?.(node.name, why),
    })
    const service: Service = { owner: node.name, place, udpPort: 0, supervisor, started: Promise.resolve() }
    return service
  }

  async #answerWanted(
    supervisor: MediaSupervisor,
    node: string,
    { id, ...wanted }: Extract<ControlEvent, { type: 'roomWanted' }>,
  ): Promise<void> {
    await this.#answer(supervisor, 'answer_room', { id, ...(await this.#options.answers.open(wanted, node)) })
  }

  async #answerLock(
    supervisor: MediaSupervisor,
    { id, ...wanted }: Extract<ControlEvent, { type: 'lockWanted' }>,
  ): Promise<void> {
    await this.#answer(supervisor, 'answer_lock', { id, done: await this.#options.answers.lock(wanted) })
  }

  async #answer<M extends 'answer_room' | 'answer_look' | 'answer_lock'>(
    supervisor: MediaSupervisor,
    method: M,
    params: ControlParams<M>,
  ): Promise<void> {
    try {
      const signal = AbortSignal.timeout(answerMs)
      await (await supervisor.client(signal)).request(method, params, signal)
    } catch (error) {
      // The process ended or hangs: nobody waits there any more.
      this.#options.logger.debug({ err: error }, 'the embedded node did not take an answer')
    }
  }

  #emit(owner: string, event: NodeEvent): void {
    for (const { node, listeners } of this.#claims) {
      if (node.name !== owner) continue
      for (const listener of listeners) this.#guarded(() => listener(event))
    }
  }
}

/** Said by name here, rather than in the system's words by a process that has to be started for it. @throws ListenError */
async function assertPortFree({ host, port }: MediaPlace): Promise<void> {
  const taken = await tryPort('node', host, port)
  if (taken !== undefined) throw taken
}

/** A log in which each line names the node: a site may have several. */
function naming(node: string, logger: NodeLogger): NodeLogger {
  return {
    debug: (fields, message) => logger.debug({ node, ...fields }, message),
    info: (fields, message) => logger.info({ node, ...fields }, message),
    warn: (fields, message) => logger.warn({ node, ...fields }, message),
    error: (fields, message) => logger.error({ node, ...fields }, message),
  }
}
