import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { startHeadless } from '../support/headless.ts'

const credential = { label: 'Stick', access_key: 'stick', secret_key: 'stick-secret' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }

/** Mounts an exFAT file system: neither hard links nor modes, as on a memory stick of any system. */
async function exfat(): Promise<{ folder: string } | { missing: string }> {
  const around = await mkdtemp(join(tmpdir(), 'roomdesk-exfat-'))
  const [image, folder] = [join(around, 'image'), join(around, 'mounted')]
  await mkdir(folder)
  const run = (command: string, ...parameters: string[]): string | undefined => {
    const { status, stdout } = spawnSync(command, parameters, { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  }
  run('truncate', '-s', '200M', image)
  if (run('mkfs.exfat', image) === undefined) return { missing: 'mkfs.exfat (package exfatprogs)' }
  const device = run('losetup', '-f', '--show', image)
  if (device === undefined) return { missing: 'loop devices: the test needs root' }
  onTestFinished(async () => {
    run('umount', '-l', folder)
    run('losetup', '-d', device)
    await rm(around, { recursive: true, force: true })
  })
  return run('mount.exfat-fuse', device, folder) === undefined
    ? { missing: 'mount.exfat-fuse (package exfat-fuse)' }
    : { folder }
}

test('A site runs on exFAT: it starts, keeps its rooms after a kill, and refuses a second controller', {
  timeout: 60_000,
}, async (context) => {
  const stick = await exfat()
  if ('missing' in stick) return context.skip(`not here: ${stick.missing}`)
  const folder = join(stick.folder, 'site')
  const server = await startHeadless({ folder, site })
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const room = await api.createRoom()
  await expect(startHeadless({ folder })).rejects.toThrow('is in use by process')
  await server.stop('SIGKILL')

  const again = await startHeadless({ folder })
  const later = new ApiClient(again.ready, credential)
  await later.authenticate()
  expect((await later.get('/rtc/room/get', { room_id: room })).ret).toBe(0)
  expect(await again.stop()).toBe(0)
  expect(await readdir(folder)).toContain('seal.key')
})
