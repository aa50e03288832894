import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { permissionArguments } from '../../../server/nodes/embedded/fork-process.ts'
import { findProgram } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { removeFolder, startHeadless } from '../../support/headless.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

/** Reads the Node arguments of the media program. */
async function argumentsOf(pid: number): Promise<string[]> {
  const parts = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
  return parts.slice(1).filter((part) => part.startsWith('--'))
}

/** Runs a probe in place of the media program, with the same arguments. Resolves to its permissions. */
async function inItsPlace(probe: string, execArgv: readonly string[], args: readonly string[]): Promise<unknown> {
  const folder = join(import.meta.dirname, '../../support/media/probe')
  const child = fork(join(folder, probe), args, { execArgv: [...execArgv, `--allow-fs-read=${folder}`] })
  let answers: unknown = 'it ended, or became another program'
  child.once('message', (message) => {
    answers = message
  })
  await once(child, 'close')
  return answers
}

test.skipIf(process.platform !== 'linux')(
  'the media program has no secret of the controller in its environment, and cannot read the data folder',
  async () => {
    vi.stubEnv('ROOMDESK_STORE', 'postgres://user:a-secret-of-the-site@db/roomdesk')
    vi.stubEnv('NODE_OPTIONS', '--no-warnings')
    onTestFinished(() => void vi.unstubAllEnvs())
    await using site = await MediaSite.start()
    const text = await readFile(`/proc/${site.pid}/environ`, 'utf8')
    const names = text
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => line.slice(0, line.indexOf('=')))
    const known = [
      'UV_THREADPOOL_SIZE',
      'PATH',
      'LANG',
      'TMPDIR',
      'TZ',
      'LD_LIBRARY_PATH',
      'PWD',
      'OLDPWD',
      '_',
      'SHLVL',
    ]
    expect(names.filter((name) => !known.includes(name) && !name.startsWith('NODE_CHANNEL_'))).toEqual([])
    expect(text).not.toContain('a-secret-of-the-site')
    expect(await readFile(`/proc/${site.pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m)

    const secret = join(site.folder, 'seal.key')
    const execArgv = await argumentsOf(site.pid)
    expect(execArgv).toContain('--permission')
    expect(execArgv.filter((part) => /^--allow-(fs-write|child-process|worker)/.test(part))).toEqual([])
    const refused = 'ERR_ACCESS_DENIED'
    expect(await inItsPlace('read-files.mjs', execArgv, [secret, site.folder])).toEqual({
      read: refused,
      list: refused,
      write: refused,
    })
    // The secret exists, and this process may read it.
    await writeFile(join(site.folder, 'probe'), await readFile(secret))
  },
)

test.skipIf(process.platform !== 'linux')(
  'the media program can start no program: no shell, no cat to read a secret, no Node with more permissions',
  async () => {
    await using site = await MediaSite.start()
    const answers = await inItsPlace('start-programs.mjs', await argumentsOf(site.pid), [join(site.folder, 'seal.key')])
    const refused = 'ERR_ACCESS_DENIED'
    expect(answers).toEqual({
      cat: refused,
      shell: refused,
      spawn: refused,
      fork: refused,
      node: refused,
      execve: refused,
      worker: refused,
    })
  },
)

test('the media program can write to its recordings folder, and nowhere else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-confined-'))
  onTestFinished(async () => await removeFolder(folder))
  const [recordings, beside] = [join(folder, 'recordings'), join(folder, 'recordings-beside')]
  for (const each of [recordings, beside]) await mkdir(each)
  for (const each of [recordings, beside]) await writeFile(join(each, 'file'), 'there')
  const program = join(import.meta.dirname, '../../../server/bin/media-node.ts')
  const execArgv = permissionArguments(program, [], recordings)
  const refused = 'ERR_ACCESS_DENIED'
  expect(await inItsPlace('read-files.mjs', execArgv, [join(beside, 'file'), beside])).toEqual({
    read: refused,
    list: refused,
    write: refused,
  })
  expect(await inItsPlace('read-files.mjs', execArgv, [join(recordings, 'file'), recordings])).not.toMatchObject({
    write: refused,
  })
})

test.skipIf((await findProgram('')) === undefined)(
  'the confined media program finds the ffmpeg of the machine',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-confined-'))
    const controller = await startHeadless({ folder, site: { nodes: [{ name: 'here', kind: 'embedded' }] } })
    onTestFinished(async () => {
      controller.child.kill('SIGKILL')
      await removeFolder(folder)
    })
    expect(await controller.rpc('media.transcoding', undefined)).toMatchObject([{ node: 'here', state: 'ready' }])
  },
)

test.skipIf((await findProgram('')) === undefined)(
  'the confined media program converts: a camera that sends H.265 has a picture for browsers',
  async () => {
    await using camera = await startTestCamera({ codec: 'h265' })
    const controller = await startHeadless({ site: { nodes: [{ name: 'here', kind: 'embedded' }] } })
    onTestFinished(async () => {
      controller.child.kill('SIGKILL')
      await removeFolder(controller.folder)
    })
    const { room_id: roomId } = await controller.rpc('rooms.create', { topic: 'Yard' })
    await controller.rpc('devices.create', {
      roomId,
      userId: 'yard',
      userName: 'Yard',
      userAddress: camera.url,
      join: 'required',
    })
    const picture = async () => (await controller.rpc('media.key_picture', { userId: 'yard' })).picture
    await expect.poll(picture, { timeout: 15_000 }).toMatchObject({ width: 320, height: 180 })
  },
)
