import type { DeviceLogin } from '../../../shared/device-address.ts'
import type { OnvifStream } from './onvif-client.ts'
import type { Discovery, DiscoveryOptions, FoundCamera } from './ws-discovery.ts'

/** Result of querying a discovered camera for its streams. */
export interface StreamsOutcome {
  /**
   * `login`: the camera requires a login, or rejected the given one; `failed`: the camera returned no stream; `gone`:
   * the last search did not find the camera.
   */
  state: 'found' | 'login' | 'failed' | 'gone'
  streams: OnvifStream[]
}

/** Time limit for all responses of one camera, in milliseconds. */
const answersMs = 8_000

/**
 * Searches the network for cameras and queries discovered cameras for their streams. Only discovered addresses can be
 * queried.
 */
export class CameraSearch {
  readonly #options: () => DiscoveryOptions
  #searching: Promise<Discovery> | undefined
  #found: ReadonlyMap<string, FoundCamera> = new Map()

  /** @param options read before each search */
  constructor(options: () => DiscoveryOptions) {
    this.#options = options
  }

  /** Searches for cameras; concurrent calls share one search. */
  search(): Promise<Discovery> {
    this.#searching ??= this.#discover()
      .then((discovery) => {
        this.#found = new Map(discovery.cameras.map((camera) => [camera.id, camera]))
        return discovery
      })
      .finally(() => {
        this.#searching = undefined
      })
    return this.#searching
  }

  /** Searches for cameras. The parser of the responses is loaded at the first search. */
  async #discover(): Promise<Discovery> {
    const { discoverCameras } = await import('./ws-discovery.ts')
    return await discoverCameras(this.#options())
  }

  /** Queries a camera found by the last search for its streams. Never rejects. */
  async streams(id: string, login: DeviceLogin | undefined): Promise<StreamsOutcome> {
    const camera = this.#found.get(id)
    if (camera === undefined) return { state: 'gone', streams: [] }
    const { OnvifError, onvifStreams } = await import('./onvif-client.ts')
    try {
      const streams = await onvifStreams(camera.service, login, AbortSignal.timeout(answersMs))
      return { state: streams.length === 0 ? 'failed' : 'found', streams }
    } catch (error) {
      return { state: error instanceof OnvifError && error.kind === 'login' ? 'login' : 'failed', streams: [] }
    }
  }
}
