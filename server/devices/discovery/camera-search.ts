import type { DeviceLogin } from '../../../shared/device-address.ts'
import type { OnvifStream } from './onvif-streams.ts'
import type { Discovery, DiscoveryOptions, FoundCamera } from './ws-discovery.ts'

/** Outcome of asking a found camera for its streams. */
export interface StreamsOutcome {
  /** `login`: it wants one, or another one; `failed`: it named no stream; `gone`: no search has found it. */
  state: 'found' | 'login' | 'failed' | 'gone'
  streams: OnvifStream[]
}

/** Time for all answers of one camera, in milliseconds. */
const answersMs = 8_000

/** Searches the network for cameras and asks those that it found for their streams: nobody can have another address asked. */
export class CameraSearch {
  readonly #options: () => DiscoveryOptions
  #searching: Promise<Discovery> | undefined
  #found: ReadonlyMap<string, FoundCamera> = new Map()

  /** @param options read at each search */
  constructor(options: () => DiscoveryOptions) {
    this.#options = options
  }

  /** Searches; a search under way is joined. */
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

  /** Searches. The first search loads the code that reads the answers. */
  async #discover(): Promise<Discovery> {
    const { discoverCameras } = await import('./ws-discovery.ts')
    return await discoverCameras(this.#options())
  }

  /** Asks a camera of the last search for its streams. Never rejects. */
  async streams(id: string, login: DeviceLogin | undefined): Promise<StreamsOutcome> {
    const camera = this.#found.get(id)
    if (camera === undefined) return { state: 'gone', streams: [] }
    const [{ OnvifError }, { onvifStreams }] = await Promise.all([
      import('./onvif-http.ts'),
      import('./onvif-streams.ts'),
    ])
    try {
      const streams = await onvifStreams(camera.service, login, AbortSignal.timeout(answersMs))
      return { state: streams.length === 0 ? 'failed' : 'found', streams }
    } catch (error) {
      return { state: error instanceof OnvifError && error.kind === 'login' ? 'login' : 'failed', streams: [] }
    }
  }
}
