import type { EventHub } from '../console/event-hub.ts'
import { listenError, ListenError, tryPort } from '../edge/listen-error.ts'
import type { Port } from '../http/listeners.ts'
import { listenerUrl } from '../edge/network-addresses.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import { SimulatedNodePort } from '../lab/simulated-node-port.ts'
import type { MediaPlace } from '../nodes/embedded/embedded-media-options.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { DeadlineError, within } from '../nodes/port/deadline.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import type { RequestProof } from '../edge/request-proof.ts'

export interface NodePortOptions {
  /** Processes of the embedded nodes; undefined: this controller has none. */
  media: EmbeddedNodes | undefined
  simulated: () => boolean
  logger: NodeLogger
  /** See EdgeServerOptions; undefined: the only controller. */
  proof?: RequestProof | undefined
  /** Returns the last certificate before TLS was switched off; undefined: none. */
  formerTls: () => Promise<TlsMaterial | undefined>
  /** Called when another listener takes over the port without a call of `start` or `stop`. */
  changed: () => void
}

/** Composes the node port of a site. The listener of the port depends on the site's nodes. */
export function nodePortOf({
  store,
  media,
  hub,
  logger,
  proof,
  formerTls,
}: Pick<NodePortOptions, 'media' | 'logger' | 'proof' | 'formerTls'> & {
  store: Pick<Store, 'all' | 'onChange'>
  hub: Pick<EventHub, 'emit'>
}): NodePort {
  const port = new NodePort({
    media,
    simulated: () => [...store.all('nodes').values()].some(({ kind }) => kind === 'simulated'),
    logger,
    proof,
    formerTls,
    changed: () => hub.emit('listeners.changed', {}),
  })
  store.onChange(() => port.review(), ['nodes'])
  return port
}

/** Maximum time that APIs and console wait for a slow node, in milliseconds. */
const patienceMs = 5_000

/**
 * Port of this machine's own node. The embedded node itself listens on this port. On a site with only simulated nodes,
 * the port serves a notice, so that the address in the response of get_mcu is reachable. Otherwise the port is closed.
 * Additional embedded nodes use the same address and certificate, each with its own port.
 */
export class NodePort implements Port {
  readonly #options: NodePortOptions
  readonly #notice: SimulatedNodePort
  #place: MediaPlace | undefined
  /** Last certificate in use. */
  #shown: MediaPlace['tls']
  #serves: 'embedded' | 'notice' | 'nobody' = 'nobody'
  #work: Promise<void> = Promise.resolve()

  constructor(options: NodePortOptions) {
    this.#options = options
    this.#notice = new SimulatedNodePort(options.logger, options.proof)
    options.media?.first.onChange(() => this.review())
  }

  get url(): string {
    if (this.#serves === 'notice') return this.#notice.url
    const place = this.#serves === 'embedded' ? this.#options.media?.first.place : undefined
    return place === undefined ? '' : listenerUrl(place.host, place.port, place.tls === undefined ? 'http' : 'https')
  }

  /**
   * Opens the port. An embedded node that is slow, or fails for a reason other than the port, is started in the
   * background.
   * @throws ListenError
   */
  async start(host: string, port: number, material: TlsMaterial | undefined): Promise<void> {
    const tls = material && pairOf(material)
    this.#shown = tls ?? this.#shown
    this.#place = { host, port, tls, formerTls: tls === undefined ? await this.#former() : undefined }
    await this.#options.media?.listenAt(this.#place)
    await this.#queue(() => this.#serve())
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#place = undefined
    await this.#queue(() => this.#end(deadlineMs))
  }

  async secure(material: TlsMaterial): Promise<void> {
    const tls = pairOf(material)
    this.#shown = tls
    if (this.#place !== undefined) this.#place = { ...this.#place, tls }
    if (this.#serves === 'embedded') await this.#options.media?.first.secure(tls)
    await this.#options.media?.secure(tls)
  }

  connections(): number | Promise<number> {
    if (this.#serves === 'notice') return this.#notice.connections
    return this.#serves === 'embedded' ? (this.#options.media?.first.connections() ?? 0) : 0
  }

  /** Switches to the listener that the site's nodes require now. */
  review(): void {
    if (this.#place === undefined || this.#wanted() === this.#serves) return
    const reviewed = this.#queue(async () => {
      if (this.#place === undefined || this.#wanted() === this.#serves) return
      await this.#end()
      await this.#serve()
    })
    this.#options.media?.first.opens(reviewed)
    reviewed
      .catch((error: unknown) => this.#options.logger.error({ err: error }, 'the node port could not be opened'))
      .finally(this.#options.changed)
  }

  async #former(): Promise<MediaPlace['tls']> {
    if (this.#shown !== undefined) return this.#shown
    const former = await this.#options.formerTls()
    return former && pairOf(former)
  }

  #wanted(): 'embedded' | 'notice' | 'nobody' {
    if (this.#options.media?.first.owner !== undefined) return 'embedded'
    return this.#options.simulated() ? 'notice' : 'nobody'
  }

  async #serve(): Promise<void> {
    const place = this.#place
    if (place === undefined) return
    this.#serves = this.#wanted()
    if (this.#serves === 'notice') await this.#notice.start(place.host, place.port, place.tls)
    else if (this.#serves === 'embedded') await this.#listen(place)
  }

  async #listen(place: MediaPlace): Promise<void> {
    const { logger } = this.#options
    const media = this.#options.media?.first
    if (media === undefined) return
    try {
      // A port in use is reported at once, before a process is started.
      const taken = await tryPort('node', place.host, place.port)
      if (taken !== undefined) throw taken
      await within({ milliseconds: patienceMs }, () => media.listen(place))
    } catch (error) {
      const refused = asListenError(error, place)
      if (refused === undefined) {
        // On a busy machine. The start goes on, so an operator has nothing to do.
        if (error instanceof DeadlineError)
          logger.warn({}, `the embedded node has not started within ${patienceMs / 1_000} s: waiting for it`)
        else logger.error({ err: error }, 'the embedded node did not start: it is tried again')
        return
      }
      await media.stopListening()
      this.#serves = 'nobody'
      throw refused
    }
  }

  async #end(deadlineMs?: number): Promise<void> {
    if (this.#serves === 'notice') await this.#notice.stop()
    else if (this.#serves === 'embedded') await this.#options.media?.first.stopListening(deadlineMs)
    this.#serves = 'nobody'
  }

  #queue(step: () => Promise<void>): Promise<void> {
    const done = this.#work.then(step)
    // The caller receives the error through `done`.
    this.#work = done.catch(() => {})
    return done
  }
}

/** Converts the error of the media program to a ListenError, for a port that another program has taken meanwhile. */
function asListenError(error: unknown, { host, port }: MediaPlace): ListenError | undefined {
  if (error instanceof ListenError) return error
  const code = error instanceof Error ? /\blisten (E[A-Z]+)\b|\bgetaddrinfo (E[A-Z_]+)\b/.exec(error.message) : null
  if (code === null) return undefined
  const named = listenError(Object.assign(new Error(code[0]), { code: code[1] ?? code[2] }), 'node', host, port)
  return named instanceof ListenError ? named : undefined
}

/** Returns only certificate and key, which are sufficient for the node's program. */
function pairOf({ cert, key }: TlsMaterial): TlsMaterial {
  return { cert, key }
}
