import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { build } from 'vite'
import { typeOf } from '../../../renderer/console/pages/recordings/player/piece.ts'
import { sendWebResponse, webRequest } from '../../../server/console/http-messages.ts'
import { type RecordingsSite, recordingsSite } from './recordings-site.ts'

/** Recordings with a page on which the player runs. */
export interface PlayerSite extends RecordingsSite {
  url: string
  /** Pieces of a user's stream, as the console loads them. @param open they are still written */
  pieces(userId: string, open?: boolean): object[]
  /** Paths of the requests so far. */
  requests: string[]
}

/** Serves recordings and the player's page until the end of the test. */
export async function playerSite(): Promise<PlayerSite> {
  const site = await recordingsSite()
  const code = await bundle()
  const requests: string[] = []
  const caller = { role: 'operator', account: 'olivia', accountId: 'olivia', address: '', scoped: true } as const
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    requests.push(path)
    if (path.startsWith('/recordings/')) {
      site.playback
        .answer(webRequest(request, response), caller)
        .then((answer) => sendWebResponse(answer, response))
        .catch(() => response.destroy())
    } else if (path === '/player.js') response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(code)
    else
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(
          '<!doctype html><body><script type="module">import { PlayerPage } from "/player.js"; window.PlayerPage = PlayerPage</script>',
        )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the page is not served')
  return {
    ...site,
    requests,
    url: `http://127.0.0.1:${address.port}/`,
    pieces: (userId, open = false) =>
      site.index.segments({ userId }).map(({ id, startedAt, endedAt, container, videoCodec, audioCodec }) => ({
        id,
        from: startedAt,
        to: endedAt,
        type: typeOf(container, videoCodec, audioCodec),
        hasPicture: videoCodec !== '',
        hasSound: audioCodec !== '',
        open,
      })),
  }
}

async function bundle(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      target: 'chrome120',
      lib: {
        entry: join(import.meta.dirname, '../../renderer/recordings/player-page.ts'),
        formats: ['es'],
        fileName: 'player',
      },
    },
  })
  const [first] = [made].flat()
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined
  if (chunk === undefined) throw new Error('the player was not built')
  return chunk.code
}
