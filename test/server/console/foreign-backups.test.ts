import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { isAtMachine } from '../../../server/console/site-procedures.ts'
import { type ControllerSite, controllerSite } from '../../support/sites/controller-site.ts'

const part = 1024 * 1024

async function download(site: ControllerSite, who: string, name: string): Promise<Buffer> {
  const { data } = await site.call(who, 'backups.read', { name, offset: 0, length: part })
  return Buffer.from(data, 'base64')
}

async function upload(site: ControllerSite, who: string, archive: Buffer) {
  await site.call(who, 'backups.write', { upload: 'one', offset: 0, data: archive.toString('base64') })
  return await site.call(who, 'backups.add', { upload: 'one' })
}

/** Edits the site's file of a backup, and updates its checksum, as anyone with the file can. */
function edited(file: string, from: string, to: string): string {
  const [, body = ''] = /^(.*\n)"checksum":"[0-9a-f]{8}"\}\n?$/s.exec(file) ?? []
  const changed = body.replaceAll(from, to)
  return `${changed}"checksum":"${crc32(changed).toString(16).padStart(8, '0')}"}\n`
}

/** Edits the file inside an archive, where its length must not change. */
function editedArchive(archive: Buffer, from: string, to: string): Buffer {
  const header = Math.floor(archive.indexOf('/site.json') / 512) * 512
  const start = header + 512
  const end = start + Number.parseInt(archive.toString('latin1', header + 124, header + 135), 8)
  const file = edited(archive.toString('utf8', start, end), from, to)
  expect(Buffer.byteLength(file)).toBe(end - start)
  return Buffer.concat([archive.subarray(0, start), Buffer.from(file), archive.subarray(end)])
}

test('A backup of this site is recognised in the list, in its preview, and after a download and upload', async () => {
  const site = await controllerSite()
  await site.create('ann', 'admin')
  const ann = await site.signIn('ann')
  const made = await site.call(ann, 'backups.make', {})
  expect(made.proof).toBe('good')
  const added = await upload(site, ann, await download(site, ann, made.name))
  expect(added).toMatchObject({ proof: 'good', uploaded: true })
  expect((await site.call(ann, 'backups.list', {})).map(({ proof }) => proof)).toEqual(['good', 'good'])
  expect(await site.call(ann, 'backups.preview', { name: added.name })).toMatchObject({
    proof: 'good',
    restorable: true,
  })
  expect(await site.result(ann, 'backups.restore', { name: added.name })).toMatchObject({ ok: true })
})

test('A backup changed outside the site cannot be restored over the network, only on the machine itself', async () => {
  const site = await controllerSite()
  await site.create('ann', 'admin')
  await site.create('eve', 'viewer')
  const ann = await site.signIn('ann')
  const { name } = await site.call(ann, 'backups.make', {})
  const archive = editedArchive(await download(site, ann, name), '"role":"viewer"', '"role":"admin" ')
  const forged = await upload(site, ann, archive)
  expect(forged.proof).toBe('wrong')
  expect(await site.call(ann, 'backups.preview', { name: forged.name })).toMatchObject({
    proof: 'wrong',
    restorable: false,
  })
  const refused = await site.result(ann, 'backups.restore', { name: forged.name })
  expect(refused).toMatchObject({
    status: 403,
    ok: false,
    error: { code: 'forbidden', name: 'backupUnproven', values: { proof: 'wrong' } },
  })
  expect(JSON.stringify(refused)).toContain('on the machine itself')
  const roleOfEve = async (): Promise<string | undefined> =>
    (await site.call(await site.key(), 'accounts.list', {})).find((account) => account.name === 'eve')?.role
  expect(await roleOfEve()).toBe('viewer')
  const key = await site.key()
  expect(await site.call(key, 'backups.preview', { name: forged.name })).toMatchObject({ restorable: true })
  await site.call(key, 'backups.restore', { name: forged.name })
  expect(await roleOfEve()).toBe('admin')
})

test('A backup in the data folder that was edited, or made by an earlier version, is not recognised as one of this site', async () => {
  const site = await controllerSite()
  await site.create('ann', 'admin')
  await site.create('eve', 'viewer')
  const ann = await site.signIn('ann')
  const [older, changed] = [await site.call(ann, 'backups.make', {}), await site.call(ann, 'backups.make', {})]
  await rm(join(site.folder, 'backups', older.name, 'proof.json'))
  const file = join(site.folder, 'backups', changed.name, 'site.json')
  await writeFile(file, edited(await readFile(file, 'utf8'), '"role":"viewer"', '"role":"admin"'))
  expect((await site.call(ann, 'backups.list', {})).map(({ proof }) => proof)).toEqual(['wrong', 'missing'])
  for (const { name } of [older, changed])
    expect(await site.result(ann, 'backups.restore', { name })).toMatchObject({ status: 403, ok: false })
  // An additional file without proof would be read, too.
  const { name } = await site.call(ann, 'backups.make', {})
  await writeFile(join(site.folder, 'backups', name, 'journal-000099.ndjson'), '')
  expect((await site.call(ann, 'backups.preview', { name })).proof).toBe('wrong')
})

test('The preview names the accounts and tokens that a restore adds, removes or changes', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const [ann, bob] = [await site.create('ann', 'admin'), await site.create('bob', 'operator')]
  const { access } = await site.call(key, 'accounts.create_token', { id: ann.id, label: 'Nightly', role: 'operator' })
  await site.call(key, 'wall.save', { name: 'Gates', items: [{ kind: 'camera', id: 'gate' }] })
  const { name } = await site.call(key, 'backups.make', {})
  await site.call(key, 'accounts.revoke_token', { id: access.id })
  await site.call(key, 'accounts.update', { id: bob.id, role: 'viewer' })
  await site.create('cid', 'viewer')
  const preview = await site.call(key, 'backups.preview', { name })
  expect(preview).toMatchObject({
    accounts: 2,
    access_tokens: 1,
    wall_views: 1,
    now: { accounts: 3, access_tokens: 0, wall_views: 1 },
    access_total: 3,
  })
  expect(preview.access).toEqual([
    expect.objectContaining({ kind: 'account', change: 'changed', name: 'bob', role: 'operator' }),
    expect.objectContaining({ kind: 'account', change: 'lost', name: 'cid', role: 'viewer' }),
    expect.objectContaining({ kind: 'token', change: 'gained', name: 'Nightly', account: 'ann', role: 'operator' }),
  ])
})

test('Restoring at the machine means the window of the desktop app, or the console key from a loopback address', () => {
  const role = 'admin' as const
  const calls = [
    { transport: 'ipc', client: '', role },
    { transport: 'rpc', client: '127.0.0.1', role, way: 'key' },
    { transport: 'websocket', client: '::1', role, way: 'key' },
    { transport: 'rpc', client: '192.0.2.7', role, way: 'key' },
    { transport: 'rpc', client: '127.0.0.1', role, way: 'password' },
    { transport: 'rpc', client: '127.0.0.1', role, way: 'token' },
  ] as const
  expect(calls.map((call) => isAtMachine(call))).toEqual([true, true, true, false, false, false])
})
