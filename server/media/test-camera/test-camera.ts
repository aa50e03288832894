import { errorCode } from '../../../shared/error-code.ts'
import {
  maxTestCameraConnections,
  type TestCameraSpec,
  type TestCameraState,
  testCameraUrl,
} from '../../../shared/media/test-camera.ts'
import { sleep } from '../../../shared/sleep.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { Web } from '../http/web.ts'
import { ActiveBehaviours } from './active-behaviours.ts'
import type { CameraContent } from './camera-content.ts'
import { CameraSession } from './camera-session.ts'
import { testCard } from './card/test-card.ts'
import { pictureClips, soundClip } from './clip.ts'
import { LoginCheck } from './login-check.ts'
import { OnvifDevice } from './onvif/onvif-device.ts'

/** Creates the ports of a camera. */
type CameraPorts = Pick<Web, 'streamPort' | 'port'>

/** Address at which a camera listens for this machine only, and for all machines. */
const hosts = { machine: '127.0.0.1', network: '0.0.0.0' } as const

/** A camera of the lab: an RTSP server that plays a bundled clip or a drawn test card, and misbehaves as specified. */
export class TestCamera {
  readonly spec: TestCameraSpec
  readonly #port: ReturnType<Web['streamPort']>
  #onvif: OnvifDevice | undefined
  readonly #sessions = new Set<CameraSession>()
  readonly #logins: LoginCheck

  private constructor(ports: CameraPorts, content: CameraContent, log: MediaLog) {
    this.spec = content.spec
    this.#logins = content.logins
    this.#port = ports.streamPort({
      name: `test camera ${content.spec.name}`,
      connections: maxTestCameraConnections,
      serve: (socket) => {
        const session: CameraSession = new CameraSession(socket, content, {
          failed: (error) => log.error('a connection of a test camera failed', wholeText(error)),
          ended: () => this.#sessions.delete(session),
        })
        this.#sessions.add(session)
      },
    })
  }

  /** Starts a camera. @throws Error of the listener, e.g. EADDRINUSE */
  static async start(spec: TestCameraSpec, ports: CameraPorts, log: MediaLog): Promise<TestCamera> {
    const behaviours = new ActiveBehaviours(spec)
    const logins = new LoginCheck(spec, behaviours)
    const sound = spec.sound === 'none' ? undefined : await soundClip(spec.sound)
    const clips = spec.picture === 'card' ? testCard(spec.name) : await pictureClips(spec.codec)
    const content = { spec, behaviours, logins, clips, sound }
    const camera = new TestCamera(ports, content, log)
    await camera.#port.start(spec.network ? hosts.network : hosts.machine, spec.port)
    try {
      if (spec.onvif) camera.#onvif = await OnvifDevice.start(content, camera.port, ports)
    } catch (error) {
      camera.close()
      throw error
    }
    return camera
  }

  get port(): number {
    return this.#port.port
  }

  /** Address of the camera on this machine, without its login. */
  get url(): string {
    return testCameraUrl({ name: this.spec.name, port: this.port })
  }

  get state(): TestCameraState {
    return {
      ...{ name: this.spec.name, problem: null, onvif_port: this.#onvif?.port ?? 0 },
      locked_until: this.#logins.lockedUntil,
      wrong_logins: this.#logins.wrong,
      clients: Array.from(this.#sessions, ({ state }) => state),
    }
  }

  close(): void {
    this.#port.close()
    // The port closes in the background; an error would only mean that it is closed already.
    this.#onvif?.close().catch(() => {})
  }
}

/** Number and interval of further attempts to open a port in use, in milliseconds. */
const portAttempts = 8
const portMs = 250

/** Camera that was ordered: it runs, is being started, or could not be started. */
interface OrderedCamera {
  spec: TestCameraSpec
  running: TestCamera | undefined
  problem: TestCameraState['problem']
}

/** The test cameras that the controller ordered. */
export class TestCameras {
  readonly #ports: CameraPorts
  readonly #log: MediaLog
  readonly #cameras = new Map<string, OrderedCamera>()
  /** Serializes starts, so that a changed camera gets its port back. */
  #work: Promise<void> = Promise.resolve()
  #closed = false

  constructor(ports: CameraPorts, log: MediaLog) {
    this.#ports = ports
    this.#log = log
  }

  get states(): TestCameraState[] {
    return Array.from(this.#cameras, ([name, { running, problem }]) => {
      if (running !== undefined) return running.state
      return { name, problem, onvif_port: 0, locked_until: 0, wrong_logins: 0, clients: [] }
    })
  }

  /** Starts and ends cameras so that exactly these run. Unchanged cameras keep their connections. */
  set(specs: readonly TestCameraSpec[]): void {
    const wanted = new Map(specs.map((spec) => [spec.name, spec]))
    for (const [name, { spec, running }] of this.#cameras) {
      if (JSON.stringify(spec) === JSON.stringify(wanted.get(name))) continue
      running?.close()
      this.#cameras.delete(name)
    }
    for (const spec of specs) {
      if (this.#cameras.has(spec.name)) continue
      const ordered: OrderedCamera = { spec, running: undefined, problem: null }
      this.#cameras.set(spec.name, ordered)
      this.#work = this.#work.then(() => this.#start(ordered))
      mustNotFail(this.#work)
    }
  }

  /** Resolves when all ordered cameras run or have failed. */
  async settled(): Promise<void> {
    await this.#work
  }

  close(): void {
    this.#closed = true
    for (const { running } of this.#cameras.values()) running?.close()
    this.#cameras.clear()
  }

  /** Starts a camera, and tries again for a moment if its port is in use: a node that has just ended may hold it. */
  async #startWhenFree(spec: TestCameraSpec, isWanted: () => boolean): Promise<TestCamera> {
    for (let left = portAttempts; ; left--) {
      try {
        return await TestCamera.start(spec, this.#ports, this.#log)
      } catch (error) {
        if (errorCode(error) !== 'EADDRINUSE' || left <= 0 || !isWanted()) throw error
        await sleep(portMs, { ref: false })
      }
    }
  }

  /** Never rejects: a port in use must not disturb the node. */
  async #start(ordered: OrderedCamera): Promise<void> {
    const isWanted = (): boolean => !this.#closed && this.#cameras.get(ordered.spec.name) === ordered
    if (!isWanted()) return
    try {
      const camera = await this.#startWhenFree(ordered.spec, isWanted)
      if (isWanted()) ordered.running = camera
      else camera.close()
    } catch (error) {
      ordered.problem = ['EADDRINUSE', 'EACCES'].includes(errorCode(error)) ? 'port' : 'failed'
      this.#log.warn('a test camera of the lab could not be started', `${ordered.spec.name}: ${wholeText(error)}`)
    }
  }
}
