import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createRoom, open, temporaryFolder } from '../../../support/sites/store-site.ts'

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

test.skipIf(process.platform === 'win32')(
  'A new data folder and every file in it are accessible to its owner only',
  async () => {
    const folder = join(await temporaryFolder(), 'new')
    const store = await open(folder)
    await createRoom(store, '1')
    await store.backups.make()
    await createRoom(store, '2')
    expect(await modeOf(folder)).toBe('700')
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      expect(`${entry.name} ${await modeOf(join(entry.parentPath, entry.name))}`).toBe(
        `${entry.name} ${entry.isDirectory() ? '700' : '600'}`,
      )
    }
    expect(store.status().notices).toEqual([])
    await store.close()
  },
)

test.skipIf(process.platform === 'win32')(
  'A data folder open to others is closed to them, with files and backups, and the operator is notified',
  async () => {
    const folder = await temporaryFolder()
    const store = await open(folder)
    await createRoom(store, '1')
    await store.backups.make()
    await store.close()
    await chmod(folder, 0o755)
    await chmod(join(folder, 'rooms.json'), 0o644)
    await chmod(join(folder, 'backups'), 0o755)
    const inside = [join(folder, 'events', 'head.json'), join(folder, 'tls', 'authority.key')]
    for (const file of inside) {
      await mkdir(dirname(file), { mode: 0o755 })
      await writeFile(file, '{}', { mode: 0o644 })
    }
    const certificate = join(folder, 'fullchain.pem')
    await writeFile(certificate, '')
    await chmod(certificate, 0o644)
    const again = await open(folder)
    expect(await modeOf(folder)).toBe('700')
    expect(await modeOf(join(folder, 'rooms.json'))).toBe('600')
    expect(await modeOf(join(folder, 'backups'))).toBe('700')
    for (const file of inside) expect([await modeOf(dirname(file)), await modeOf(file)]).toEqual(['700', '600'])
    // Foreign files keep their mode.
    expect(await modeOf(certificate)).toBe('644')
    expect(again.status().notices).toMatchObject([{ level: 'info', code: 'folderClosed' }])
    await again.close()
  },
)

test.skipIf(process.platform === 'win32')(
  'A folder shared with others keeps its mode, and the operator is warned',
  async () => {
    const shared = await temporaryFolder()
    await chmod(shared, 0o1777)
    const occupied = await temporaryFolder()
    await chmod(occupied, 0o755)
    await mkdir(join(occupied, 'somebody'))
    for (const folder of [shared, occupied]) {
      const before = await modeOf(folder)
      const store = await open(folder)
      expect(await modeOf(folder)).toBe(before)
      expect(store.status().notices).toMatchObject([{ level: 'warning', code: 'folderOpen' }])
      await store.close()
    }
  },
)
