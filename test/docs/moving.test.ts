import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startTestCamera } from '../support/camera/test-camera.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { offerSdp } from '../support/media/offer.ts'

test('Every request of docs/integrate/moving.md that replaces one of the original platform works unchanged', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/integrate/moving.md'), 'utf8')
  const script = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines = '']) => lines).join('')
  const site: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '')
  const server = await startHeadless({
    site: { ...(site as object), nodes: [{ name: 'here', kind: 'embedded' }] },
  })
  const camera = await startTestCamera()
  const offers = await mkdtemp(join(tmpdir(), 'roomdesk-offers-'))
  onTestFinished(async () => {
    camera.close()
    await server.stop()
    await Promise.all([removeFolder(server.folder), rm(offers, { recursive: true })])
  })
  const [send, watch] = [join(offers, 'send.sdp'), join(offers, 'watch.sdp')]
  await writeFile(send, offerSdp({ direction: 'sendonly' }))
  await writeFile(watch, offerSdp())
  const env = {
    ...process.env,
    MEDIA: server.ready.media,
    CONSOLE: server.ready.console,
    CONSOLE_KEY: (await readFile(join(server.folder, 'console.key'), 'utf8')).trim(),
    ACCESS_KEY: 'portal',
    SECRET_KEY: 'the old secret',
    CAMERA: camera.url,
    SEND_OFFER: send,
    WATCH_OFFER: watch,
  }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], { env })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): unknown => (line.startsWith('{') ? JSON.parse(line) : line))
  const node = new URL(server.ready.node).host
  const roomId = expect.stringMatching(/^\d{9}$/) as string
  expect(lines).toEqual([
    expect.objectContaining({ ret: 0, room_server: expect.objectContaining({ uri: node }) }),
    expect.objectContaining({ ret: 0, room_id: roomId, topic: expect.stringMatching(/^Room \d{9}$/), owner_id: '' }),
    expect.objectContaining({ ret: 0, result: 0 }),
    expect.objectContaining({
      result: 0,
      data: {
        total: 1,
        items: [expect.objectContaining({ room_id: roomId, user_id: 'door', user_name: 'door', userName: 'door' })],
      },
    }),
    { ok: true, value: expect.objectContaining({ room_id: roomId, open_to_number: true }) },
    expect.stringMatching(new RegExp(`^302 http://${node}/room/\\?roomId=\\d{9}$`)),
    { link: expect.stringContaining('#token=') },
    '201 Created, ended 200',
    '201 Created, ended 200',
    '404',
  ])
})
