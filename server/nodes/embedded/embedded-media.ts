import type { OutgoingId, Removal } from '../../../shared/media/control.ts'
import { tryPort } from '../../edge/listen-error.ts'
import { unlessAborted } from '../../../shared/abort.ts'
import { inBackground } from '../../../shared/unawaited.ts'
import { type MediaNode, NodeConnectionError } from '../port/media-node-port.ts'
import type { StoredNode } from '../../store/records.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { type MediaRequests, ProcessEvents } from './control-client.ts'
import type { EmbeddedMediaOptions, MediaPlace } from './embedded-media-options.ts'
import { EmbeddedNode } from './embedded-node.ts'
import { MediaSupervisor } from './media-supervisor.ts'
import { NodeClaims } from './node-claims.ts'

/** The process that serves one node at one address. */
interface Service {
  owner: string
  place: MediaPlace
  udpPort: number
  supervisor: MediaSupervisor
  /** Result of the first start. */
  started: Promise<void>
}

/** Timeout of counting connections, in milliseconds. */
const countMs = 500
/** Timeout of an orderly end when the node is removed or moves, in milliseconds. */
const stopMs = 3_000
/**
 * Process of an embedded node. The process runs while there is both an address to listen on and a node that needs it.
 * The owner of the port sets the address; the pool's drivers determine whether the process is needed.
 */
export class EmbeddedMedia {
  readonly #options: EmbeddedMediaOptions
  readonly #claims: NodeClaims
  readonly #firstPlace = Promise.withResolvers<void>()
  /** Resolves when the node port is open; undefined while it is not being opened. */
  #opening: Promise<void> | undefined
  #place: MediaPlace | undefined
  #service: Service | undefined
  /** Serializes starts and stops. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: EmbeddedMediaOptions) {
    this.#options = options
    this.#claims = new NodeClaims(options.logger)
  }

  /** Name of the node that the process serves; undefined if no node needs it. */
  get owner(): string | undefined {
    return this.#claims.served?.name
  }

  /** Address on which the process listens, with the actual port; undefined while the process does not listen. */
  get place(): MediaPlace | undefined {
    const port = this.#service?.supervisor.ports?.port
    return port === undefined || this.#service === undefined ? undefined : { ...this.#service.place, port }
  }

  /** Id of the process; undefined if none runs. */
  get pid(): number | undefined {
    return this.#service?.supervisor.pid
  }

  /** Resolves when pending starts and stops are done. Never rejects. */
  async settled(): Promise<void> {
    await Promise.resolve()
    await this.#work
  }

  /** Calls the listener when a node starts or stops needing the process. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    return this.#claims.onChange(listener)
  }

  /**
   * Sets the address. Resolves when the process listens there, or when no node needs it.
   * @throws the error of the first start, which is then retried in the background until `stopListening`
   */
  async listen(place: MediaPlace): Promise<void> {
    this.#place = place
    this.#firstPlace.resolve()
    await this.#settle()
    await this.#service?.started
  }

  /** Makes requests wait for `work`, which opens the node port. */
  opens(work: Promise<void>): void {
    const opening = work
      // The caller handles the error of `work`.
      .catch(() => {})
      .finally(() => {
        if (this.#opening === opening) this.#opening = undefined
      })
    this.#opening = opening
  }

  /** Ends the process, and stops listening. */
  async stopListening(milliseconds = stopMs): Promise<void> {
    this.#place = undefined
    await this.#settle(milliseconds)
  }

  /** Sets the certificate for new connections. Open connections are not affected. */
  async secure(tls: NonNullable<MediaPlace['tls']>): Promise<void> {
    if (this.#place !== undefined) this.#place.tls = tls
    await this.#service?.supervisor.tell('set_certificate', tls)
  }

  /** Sends a removal that another process reported. */
  async noteRemoval(removal: Removal): Promise<void> {
    await this.#service?.supervisor.tell('note_removal', removal)
  }

  /** Notifies the process that a device was created, moved or deleted. */
  async noteOutgoing(outgoing: OutgoingId): Promise<void> {
    await this.#service?.supervisor.tell('note_outgoing', outgoing)
  }

  /**
   * Returns the number of open connections of the process.
   * @throws NodeConnectionError; the error of the request
   */
  async connections(): Promise<number> {
    const signal = AbortSignal.timeout(countMs)
    return (await (await this.client(signal)).request('connections', {}, signal)).connections
  }

  /**
   * Sets the node whose room page is served while no node needs the process; undefined: none. The node itself is not
   * embedded.
   */
  showPageFor(node: StoredNode | undefined): void {
    // A failure was logged.
    if (this.#claims.showPageFor(node)) this.#settle().catch(() => {})
  }

  driver(node: StoredNode): MediaNode {
    const claim = this.#claims.add(node)
    // A failure was logged.
    this.#settle().catch(() => {})
    return new EmbeddedNode({
      client: (signal) => this.client(signal, node.name),
      listeners: claim.listeners,
      release: async () => {
        if (this.#claims.remove(claim)) await this.#settle()
      },
    })
  }

  /**
   * Returns the connection to the process, and waits for one that is starting.
   * @param name name of the requesting node; left out: the node that the process serves
   * @throws NodeConnectionError; the signal's reason
   */
  async client(signal: AbortSignal, name = this.owner): Promise<MediaRequests> {
    if (name !== undefined && name !== this.owner) {
      throw new NodeConnectionError(`its port is that of the node ${this.owner ?? 'that was there before'}`)
    }
    // At startup, nodes are polled shortly before their port is opened.
    if (this.#place === undefined) await unlessAborted(this.#firstPlace.promise, signal)
    if (this.#opening !== undefined) await unlessAborted(this.#opening, signal)
    if (this.#service?.owner !== name) await unlessAborted(this.#work, signal)
    if (this.#place === undefined) throw new NodeConnectionError('the node port is closed')
    if (name === undefined || this.#service?.owner !== name) throw new NodeConnectionError('it does not run')
    return this.#service.supervisor.client(signal)
  }

  /** Sends changed settings to the process, or restarts the process if the UDP port changed. */
  configure(): void {
    const service = this.#service
    const node = this.#claims.served
    if (node === undefined || service?.owner !== node.name) return
    const { settings, udpPort } = this.#options.configuration(node)
    if (udpPort !== service.udpPort) {
      service.udpPort = udpPort
      this.#options.logger.info({ udp_port: udpPort }, 'UDP port changes: restarting the embedded node')
      inBackground(service.supervisor.restart(), 'the embedded node could not be restarted', this.#options.logger)
    } else
      inBackground(
        service.supervisor.configure(settings),
        'settings of the embedded node were not sent',
        this.#options.logger,
      )
  }

  /** Starts, stops or moves the process as currently required. */
  #settle(milliseconds = stopMs): Promise<void> {
    const step = this.#work.then(() => this.#step(milliseconds))
    // A failed step does not prevent the next one.
    this.#work = step.catch((error: unknown) =>
      this.#options.logger.error({ err: error }, 'the embedded node could not be started or ended'),
    )
    return step
  }

  async #step(milliseconds: number): Promise<void> {
    const node = this.#claims.served
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
    // `listen` awaits the first start. The supervisor handles later failures.
    service.started.catch(() => {})
  }

  #serve(node: StoredNode, place: MediaPlace): Service {
    const {
      spawn,
      pageFolder,
      recordingsFolder,
      ffmpeg,
      passedOn,
      configuration,
      removals,
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
          former_tls: place.formerTls,
          token_key: tokenKey,
          passed_on: passedOn && { ...passedOn, key: passedOn.key.toString('base64') },
          page_folder: pageFolder,
          recordings_folder: recordingsFolder ?? '',
          settings,
          removals: [...removals()],
          outgoing: this.#options.outgoing?.(),
        }
      },
      events: new ProcessEvents(node.name, this.#options, (event) => this.#claims.emit(node.name, event)),
    })
    const service: Service = { owner: node.name, place, udpPort: 0, supervisor, started: Promise.resolve() }
    return service
  }
}

/**
 * Checks the port in this process, so that the error names the port and no media process has to be started.
 * @throws ListenError
 */
async function assertPortFree({ host, port }: MediaPlace): Promise<void> {
  const taken = await tryPort('node', host, port)
  if (taken !== undefined) throw taken
}

/** Returns a logger that adds the node's name to each line, because a site may have several nodes. */
function naming(node: string, logger: NodeLogger): NodeLogger {
  return {
    debug: (fields, message) => logger.debug({ node, ...fields }, message),
    info: (fields, message) => logger.info({ node, ...fields }, message),
    warn: (fields, message) => logger.warn({ node, ...fields }, message),
    error: (fields, message) => logger.error({ node, ...fields }, message),
  }
}
