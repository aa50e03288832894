import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startTestCamera } from '../support/camera/test-camera.ts'
import { startHeadless } from '../support/headless.ts'

test('The lines of docs/integrate/clients.md work unchanged, in any POSIX shell, with curl and openssl', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/integrate/clients.md'), 'utf8')
  const script = /```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  expect(script.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
  const credential = { label: 'Docs', access_key: 'docs', secret_key: 'a secret' }
  const server = await startHeadless({
    site: { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] },
  })
  const camera = await startTestCamera()
  onTestFinished(async () => {
    camera.close()
    await server.remove()
  })
  const env = {
    ...process.env,
    MEDIA: server.ready.media,
    DEVICE: server.ready.device,
    ACCESS_KEY: 'docs',
    SECRET_KEY: 'a secret',
    CAMERA: camera.url,
  }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], { env })
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(answers).toEqual([
    expect.objectContaining({ ret: 0, topic: '晨会' }),
    { ret: 0, addr: new URL(server.ready.node).host },
    expect.objectContaining({ ret: 0 }),
    { ret: 0, user_list: [{ user_id: 'door', user_name: 'Door' }] },
    { ret: 0, user_count_list: [{ room_id: expect.stringMatching(/^\d{9}$/), user_count: 1 }] },
    expect.objectContaining({ ret: 0, url: expect.stringContaining('/jroom/?roomId=') }),
    expect.objectContaining({ ret: 0 }),
    expect.objectContaining({ ret: 0 }),
  ])
})
