import { LoopbackServer } from '../edge/loopback-server.ts'
import type { RunCommand } from '../lab/command.ts'
import type { OpenCamera } from '../lab/conformance/cameras.ts'
import { runConformance } from '../lab/conformance/command.ts'
import { picturesOf } from '../lab/film-packets.ts'
import { TestCameraSession } from '../lab/test-camera-session.ts'
import { testFilm } from '../lab/test-film.ts'

/** The command `roomdesk conformance`. */
export const conformance: RunCommand = (context) => runConformance(context, openCamera)

/** Starts a camera on this machine that streams. */
export async function openCamera(): Promise<OpenCamera> {
  const pictures = picturesOf(Buffer.from(testFilm, 'base64'))
  const serve = (socket: ConstructorParameters<typeof TestCameraSession>[0]) =>
    void new TestCameraSession(socket, pictures)
  const server = new LoopbackServer({ name: 'test camera', connections: 64, serve })
  await server.start(0)
  return { url: `rtsp://127.0.0.1:${server.port}/conformance`, close: () => server.close() }
}
