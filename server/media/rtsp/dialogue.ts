import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import type { CameraLogin } from './authentication.ts'
import { type ConnectionListener, type ConnectionOptions, RtspConnection } from './connection.ts'
import type { RtspDescription } from './description.ts'
import { lenientAddress } from './leniency.ts'
import { RtspError } from './rtsp-error.ts'
import { SessionRequests } from './session-requests.ts'

/** Maximum number of redirections per stream (RFC 2326, section 11.3). */
const maxRedirections = 4
/** Maximum number of connections to one address: some cameras close the connection after each 401. */
const maxConnections = 3

export type DialogueOptions = Omit<ConnectionOptions, 'address'> & {
  address: DeviceAddress
  /** Whether to keep the session alive with GET_PARAMETER even if the response to OPTIONS does not list it. */
  tryParameter?: boolean
}

/**
 * A connection and its requests, up to the description of the stream. Follows redirections, and reconnects if a camera
 * closes the connection after a challenge.
 */
export class RtspDialogue {
  readonly #options: DialogueOptions
  readonly #listener: ConnectionListener
  /** Current address of the camera. */
  #address: DeviceAddress
  #login: CameraLogin | undefined
  connection: RtspConnection
  requests: SessionRequests
  readonly #visited = new Set<string>()
  #redirections = 0
  #over = false
  /** Whether the stream was described. From then on, the session depends on the current connection. */
  #described = false

  /** @param listener `ended` is called once, for the last connection */
  constructor(options: DialogueOptions, listener: ConnectionListener) {
    this.#options = options
    this.#listener = listener
    this.#address = options.address
    this.#login = options.login
    const { connection, requests } = this.#begin()
    this.connection = connection
    this.requests = requests
  }

  get port(): number {
    return this.#address.port
  }

  /**
   * Connects and requests the description.
   * @throws RtspError; `redirected` if the camera redirects too often, or to an address that is not allowed
   */
  async describe(signal: AbortSignal): Promise<RtspDescription> {
    for (;;) {
      try {
        const description = await this.#describeHere(signal)
        this.#described = true
        return description
      } catch (error) {
        this.follow(error)
      }
    }
  }

  /**
   * Follows a redirection. The stream has to be described again.
   * @throws `error`, unless it is a redirection that may be followed
   */
  follow(error: unknown): void {
    if (!(error instanceof RtspError) || error.kind !== 'redirected' || this.#over) throw error
    if (this.#redirections === maxRedirections) throw error
    this.#redirections += 1
    this.#described = false
    this.#moveTo(error)
  }

  /** Ends the connection. Idempotent. */
  close(error?: RtspError): void {
    this.#over = true
    this.connection.close(error)
  }

  async #describeHere(signal: AbortSignal): Promise<RtspDescription> {
    for (let connections = 1; ; connections++) {
      try {
        await this.connection.connect(signal)
        return await this.requests.describe()
      } catch (error) {
        const isClosed = error instanceof RtspError && error.kind === 'closed'
        const mayAnswer = this.connection.authorization.isChallenged
        if (!isClosed || !mayAnswer || connections === maxConnections || signal.aborted || this.#over) throw error
        this.#replace()
      }
    }
  }

  /**
   * Follows the Location of a redirection: to another port of the camera's host, or to another host in the networks
   * allowed for cameras. The login is not sent to another host (RFC 7235, section 5.1).
   * @throws RtspError `redirected`
   */
  #moveTo(redirection: RtspError): void {
    const { address, allowed, login } = this.#options
    this.#visited.add(this.#address.canonical)
    const target = targetOf(redirection.location, this.#address)
    const isSameHost = target?.host.toLowerCase() === address.host.toLowerCase()
    const isPermitted =
      target !== undefined &&
      !this.#visited.has(target.canonical) &&
      (isSameHost || allowed?.allowOtherHosts !== false) &&
      (allowed?.permitsHost(target) ?? true)
    if (!isPermitted) {
      const detail = target === undefined ? redirection.detail : `${redirection.detail}: ${target.address}`
      throw new RtspError('redirected', 'the camera redirects to where it may not be', redirection.status, { detail })
    }
    this.#login = target.login ?? (isSameHost ? login : undefined)
    this.#address = target
    this.#replace(true)
  }

  #replace(isElsewhere = false): void {
    const before = this.connection
    const { connection, requests } = this.#begin(isElsewhere ? undefined : before)
    this.connection = connection
    this.requests = requests
    before.close()
  }

  #begin(before?: RtspConnection): { connection: RtspConnection; requests: SessionRequests } {
    const connection: RtspConnection = new RtspConnection(
      { ...this.#options, address: this.#address, login: this.#login },
      {
        packet: (channel, packet) => this.#listener.packet(channel, packet),
        knows: (channel) => this.#listener.knows(channel),
        ended: (error) => {
          // Before the description, a closed connection is replaced.
          if (connection === this.connection && (this.#described || this.#over)) this.#listener.ended(error)
        },
      },
      before?.authorization,
    )
    const { tryParameter } = this.#options
    return { connection, requests: new SessionRequests(connection, this.#address.requestUrl, tryParameter) }
  }
}

/** Returns the address in a Location: an absolute URL, or a path on the same host; undefined if it is not usable. */
function targetOf(location: string, from: DeviceAddress): DeviceAddress | undefined {
  try {
    const place = lenientAddress(location.split(/\s/, 1)[0] ?? '')
    return parseDeviceAddress(place.startsWith('/') ? `${from.origin}${place}` : place)
  } catch {
    // The Location is empty or has another scheme.
    return undefined
  }
}
