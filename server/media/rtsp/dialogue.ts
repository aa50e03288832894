import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import type { CameraLogin } from './authentication.ts'
import { type ConnectionListener, type ConnectionOptions, RtspConnection } from './connection.ts'
import type { RtspDescription } from './description.ts'
import { plainAddress } from './leniency.ts'
import { RtspError } from './rtsp-error.ts'
import { SessionRequests } from './session-requests.ts'

/** Redirections that are followed for one stream (RFC 2326, section 11.3). */
const maxRedirections = 4
/** Connections to one address: some cameras close the connection behind each 401. */
const maxConnections = 3

/** Address, login and bounds of a dialogue. */
export type DialogueOptions = Omit<ConnectionOptions, 'address'> & {
  address: DeviceAddress
  /** Keeps the session alive with GET_PARAMETER, even if OPTIONS does not name it. Left out: no. */
  tryParameter?: boolean
}

/** A connection and the requests on it, up to the description of the stream: follows the camera to another address, and connects again where a camera closes behind a challenge. */
export class RtspDialogue {
  readonly #options: DialogueOptions
  readonly #listener: ConnectionListener
  /** Address that the camera is asked at now. */
  #address: DeviceAddress
  #login: CameraLogin | undefined
  connection: RtspConnection
  requests: SessionRequests
  readonly #visited = new Set<string>()
  #redirections = 0
  #over = false
  /** The stream was described: the connection is the session's from now on. */
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

  /** Port of the address that the camera is asked at now. */
  get port(): number {
    return this.#address.port
  }

  /**
   * Connects, and asks for the description.
   * @throws RtspError; `redirected` when the camera redirects too often, or to an address that is not allowed
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
   * Goes on where the camera redirects to: the stream has to be described anew.
   * @throws the error, unless it is a redirection that may be followed
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
   * Goes on at the Location of a redirection: at another port of the camera's host, or at another host of the networks where cameras may be. The login goes to no other host
   * (RFC 7235, section 5.1).
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
          // A closed connection is replaced while the stream is not described yet.
          if (connection === this.connection && (this.#described || this.#over)) this.#listener.ended(error)
        },
      },
      before?.authorization,
    )
    const { tryParameter } = this.#options
    return { connection, requests: new SessionRequests(connection, this.#address.requestUrl, tryParameter) }
  }
}

/** Address of a Location: absolute, or a path at the same host; undefined: none that can be asked. */
function targetOf(location: string, from: DeviceAddress): DeviceAddress | undefined {
  try {
    const place = plainAddress(location.split(/\s/, 1)[0] ?? '')
    return parseDeviceAddress(place.startsWith('/') ? `${from.origin}${place}` : place)
  } catch {
    // Empty, or of another scheme.
    return undefined
  }
}
