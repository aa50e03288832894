import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { camera } from '../../../server/bin/camera-command.ts'
import { runCommand } from '../../../server/bin/commands.ts'
import { playCamera } from '../../support/camera/played-camera.ts'

/** Runs the command until the test ends it. */
function start(...words: string[]) {
  const lines: string[] = []
  const ended = new AbortController()
  const code = camera({
    arguments: words,
    environment: {},
    version: '0',
    signal: ended.signal,
    print: (line) => void lines.push(line),
    warn: (line) => void lines.push(line),
  })
  return { lines, code, end: () => ended.abort(new Error('ended')) }
}

test('prints its address on a line, plays with its login, and ends with its signal', async () => {
  const run = start('--port', '0', '--auth', 'digest', '--user', 'u', '--password', 'p', '--behaviour', 'no-options')
  await vi.waitFor(() => expect(run.lines).toEqual([expect.stringMatching(/^rtsp:\/\/127\.0\.0\.1:\d+\/camera$/)]))
  {
    await using played = await playCamera(run.lines[0] ?? '', { login: { name: 'u', password: 'p' } })
    expect(played.tracks).toHaveLength(1)
  }
  run.end()
  expect(await run.code).toBe(0)
  await expect(playCamera(run.lines[0] ?? '')).rejects.toMatchObject({ kind: 'refused' })
})

test('wrong flags are named with their mistake', async () => {
  await expect(start('--behaviour', 'stall=0').code).rejects.toThrow(
    '--behaviour: the behaviour has the form stall=1…86400 s.',
  )
  await expect(start('--behaviour=tcp-only', '--behaviour=udp-only').code).rejects.toThrow('tcp-only excludes udp-only')
  await expect(start('--port', 'x').code).rejects.toThrow('--port: ')
  await expect(start('--codec', 'av1').code).rejects.toThrow('--codec: ')
  await expect(start('--what').code).rejects.toThrow("'--what'")
})

test('a port in use is refused with one sentence', async () => {
  const run = start('--name', 'first')
  await vi.waitFor(() => expect(run.lines).toHaveLength(1))
  const { port } = new URL(run.lines[0] ?? '')
  await expect(start('--port', port).code).rejects.toThrow(port)
  run.end()
  await run.code
})

test('help lists every behaviour', async () => {
  const stdout = new PassThrough()
  const spawnMedia = () => {
    throw new Error('This command starts no node.')
  }
  const files = { pages: '', spawnMedia }
  const command = { ...files, environment: {}, stdout, stderr: new PassThrough(), followEnd: () => {} }
  expect(await runCommand(['camera', '--help'], command)).toBe(0)
  expect(String(stdout.read())).toContain('  stall=1…86400 s\n      Stops sending media n s after PLAY')
})
