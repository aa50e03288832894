import {
  maxTestCameraConnections,
  type TestCameraSpec,
  type TestCameraState,
  testCameraUrl,
} from '../../../shared/media/test-camera.ts'
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
export type CameraPorts = Pick<Web, 'streamPort' | 'port'>

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
