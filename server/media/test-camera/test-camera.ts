import type { Socket } from 'node:net'
import {
  maxTestCameraConnections,
  type TestCameraSpec,
  type TestCameraState,
} from '../../../shared/media/test-camera.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { ActiveBehaviours } from './active-behaviours.ts'
import type { CameraContent } from './camera-content.ts'
import { CameraSession } from './camera-session.ts'
import { pictureClips, soundClip } from './clip.ts'
import { LoginCheck } from './login-check.ts'
import { smallSegment } from './request-path.ts'

/** TCP port without HTTP. */
export interface StreamPort {
  /** Number of the port; 0: it does not listen. */
  readonly port: number
  /** @throws Error of the listener, e.g. EADDRINUSE */
  start(host: string, port: number): Promise<void>
  /** Closes the port and its connections. */
  close(): void
}

/** Creates a port. At most `connections` connections are open; `serve` handles each of them. */
export type MakeStreamPort = (options: {
  name: string
  connections: number
  serve: (socket: Socket) => void
}) => StreamPort

/** Address at which a camera listens for this machine only, and for all machines. */
const hosts = { machine: '127.0.0.1', network: '0.0.0.0' } as const

/** A camera of the lab: an RTSP server that plays a bundled clip, and misbehaves as specified. */
export class TestCamera {
  readonly spec: TestCameraSpec
  readonly #port: StreamPort
  readonly #sessions = new Set<CameraSession>()
  readonly #logins: LoginCheck

  private constructor(makePort: MakeStreamPort, content: CameraContent, log: MediaLog) {
    this.spec = content.spec
    this.#logins = content.logins
    this.#port = makePort({
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
  static async start(spec: TestCameraSpec, makePort: MakeStreamPort, log: MediaLog): Promise<TestCamera> {
    const behaviours = new ActiveBehaviours(spec)
    const logins = new LoginCheck(spec, behaviours)
    const sound = spec.sound === 'none' ? undefined : await soundClip(spec.sound)
    const content = { spec, behaviours, logins, clips: await pictureClips(spec.codec), sound }
    const camera = new TestCamera(makePort, content, log)
    await camera.#port.start(spec.network ? hosts.network : hosts.machine, spec.port)
    return camera
  }

  get port(): number {
    return this.#port.port
  }

  get state(): TestCameraState {
    const { name } = this.spec
    const url = `rtsp://127.0.0.1:${this.port}/${name}`
    return {
      ...{ name, url, assist_url: `${url}/${smallSegment}`, problem: '' },
      locked_until: this.#logins.lockedUntil,
      wrong_logins: this.#logins.wrong,
      clients: Array.from(this.#sessions, ({ state }) => state),
    }
  }

  close(): void {
    this.#port.close()
  }
}
