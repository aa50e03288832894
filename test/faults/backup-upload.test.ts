import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { ConsolePages } from '../e2e/console-pages.ts'
import { violations } from '../support/axe.ts'

describe('a downloaded backup', () => {
  let site: ConsoleUnderTest
  let folder: string
  beforeAll(async () => {
    ;[site, folder] = await Promise.all([openConsole('headless'), mkdtemp(join(tmpdir(), 'roomdesk-download-'))])
    await site.call('overview.dismiss_welcome', {})
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('is uploaded in the settings; the operator confirms, and the site returns to its earlier state', async () => {
    const { call, page } = site
    const pages = new ConsolePages(page)
    const topics = async (): Promise<string[]> => (await call('rooms.list')).items.map(({ topic }) => topic).sort()
    const { room_id } = await call('rooms.create', { topic: 'Morning' })
    await call('rooms.create', { topic: 'Noon' })
    const credentials = await call('credentials.list')
    await page.reload()
    await pages.go('Settings')
    await page.getByRole('link', { name: 'Data and backups', exact: true }).click()
    await pages.button('Create backup').click()
    const made = pages.row('Kept until deleted').first()
    await made.waitFor()
    await made.getByRole('button', { name: /^More actions/ }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /^Download/ }).click(),
    ])
    const file = join(folder, download.suggestedFilename())
    expect(download.suggestedFilename()).toMatch(/^roomdesk-backup-.*\.tar$/)
    await download.saveAs(file)
    const [backup] = await call('backups.list')
    if (backup === undefined) throw new Error('it is not in the list')

    // The backup is deleted here, and the site continues.
    await call('backups.delete', { name: backup.name })
    await call('rooms.delete', { room_ids: [room_id] })
    await call('rooms.create', { topic: 'Evening' })
    await call('credentials.create', { label: 'Later' })
    expect(await topics()).toEqual(['Evening', 'Noon'])

    // A file that is no backup is refused, and the list stays unchanged.
    const chooser = async (): Promise<(chosen: Parameters<typeof page.setInputFiles>[1]) => Promise<void>> => {
      const [files] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button').filter({ hasText: 'Upload…' }).click(),
      ])
      return async (chosen) => await files.setFiles(chosen)
    }
    await (await chooser())({ name: 'holiday.tar', mimeType: 'application/x-tar', buffer: Buffer.alloc(20_480, 7) })
    await page.getByRole('alert').first().waitFor()
    expect((await call('backups.list')).filter(({ uploaded }) => uploaded)).toEqual([])

    await (await chooser())(file)
    await page.getByText('Backup uploaded. Nothing has been restored yet.').waitFor()
    expect(await topics()).toEqual(['Evening', 'Noon'])
    await pages.row('Uploaded').getByRole('button', { name: 'Restore…' }).click()
    const question = pages.dialog(/^Restore the backup of /)
    await question.getByRole('row').filter({ hasText: 'Credentials' }).getByText('−1').waitFor()
    expect(await violations(page)).toEqual([])
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await topics()).toEqual(['Evening', 'Noon'])
    await pages.row('Uploaded').getByRole('button', { name: 'Restore…' }).click()
    await question.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Backup restored', { exact: true }).waitFor()
    expect(await topics()).toEqual(['Morning', 'Noon'])
    expect(await call('credentials.list')).toEqual(credentials)
    await pages.go('Rooms')
    await pages.row('Morning').waitFor()
    expect(await pages.row('Evening').count()).toBe(0)
    expect(site.problems).toEqual([])
  })
})
