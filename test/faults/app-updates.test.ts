import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { type Desktop, isGenuine, launch } from '../e2e/desktop.ts'

let place: string
let desktop: Desktop
const content = Buffer.alloc(50_000, 'new')
const name = 'Roomdesk-99.0.0.deb'

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'roomdesk-release-'))
  desktop = await launch()
})
afterAll(async () => {
  await desktop[Symbol.asyncDispose]()
  await rm(place, { recursive: true, force: true })
})

const offer = (version: string, sha512: string, url = name): Promise<void> =>
  writeFile(
    join(place, process.arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${process.arch}.yml`),
    JSON.stringify({
      version,
      files: [{ url, sha512, size: content.length }],
      releaseNotes: '### Added\n\n- Faster walls.',
    }),
  )

test.runIf(process.platform === 'linux')('the operator names a folder, and learns what it holds', async () => {
  const { page } = desktop
  await desktop.open('#/settings/about')
  const card = page.getByRole('form', { name: 'Updates of this app' })
  await card.getByLabel('Address or folder').fill(place)
  expect(await card.getByRole('button', { name: 'Check now' }).count()).toBe(0)
  await card.getByRole('button', { name: 'Save' }).click()
  const check = card.getByRole('button', { name: 'Check now' })

  await check.click()
  await card.getByText('does not exist. Copy all files of the release').waitFor()

  await offer('0.0.1', 'none')
  await check.click()
  await card.getByText('Nothing newer was found').waitFor()

  await writeFile(join(place, name), content)
  await offer('99.0.0', createHash('sha512').update('other').digest('base64'))
  await check.click()
  await card.getByText(`${name} is not the file that the release names`).waitFor()

  await offer('99.0.0', createHash('sha512').update(content).digest('base64'))
  await check.click()
  await card.getByText('Version 99.0.0 is ready to install').waitFor()
  await card.getByText('Faster walls.').waitFor()
  await card.getByText('That does not prove who made it').waitFor()
  // A .deb needs rights: nothing offers to install it.
  await card.getByText(join(desktop.userData, 'updates', name)).waitFor()
  expect(await card.getByRole('button', { name: 'Install and restart' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
})

// The app on Electron itself is not an AppImage that a test could replace.
test.skipIf(isGenuine)(
  'an AppImage is replaced, ends in order, and the new one starts by itself with the same arguments',
  async () => {
    const apps = await mkdtemp(join(tmpdir(), 'roomdesk-apps-'))
    onTestFinished(() => rm(apps, { recursive: true, force: true }))
    const appImage = join(apps, 'Roomdesk.AppImage')
    await writeFile(appImage, 'old')
    const next = `#!/bin/sh\necho "$@" > "$0.part"\nmv "$0.part" "$0.started"\n`.padEnd(content.length)
    await writeFile(join(place, 'Roomdesk-99.0.0.AppImage'), next)
    await offer('99.0.0', createHash('sha512').update(next).digest('base64'), 'Roomdesk-99.0.0.AppImage')

    await using app = await launch({
      before: [join(import.meta.dirname, '../e2e/as-packaged.cjs')],
      env: { APPIMAGE: appImage },
    })
    const { page } = app
    const { room_id } = (await app.call('rooms.create', { topic: 'Kept' })) as { room_id: string }
    await app.open('#/settings/about')
    const card = page.getByRole('form', { name: 'Updates of this app' })
    await card.getByLabel('Address or folder').fill(place)
    await card.getByText('By itself, once nobody has been in a room').click()
    await card.getByLabel('Time of day').waitFor()
    await card.getByText('When I say so').click()
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByRole('button', { name: 'Check now' }).click()

    // Somebody is in a meeting: they are warned, unless the operator does not want that.
    const { url } = (await app.call('media.join_link', { room_id })) as { url: string }
    const token = new URL(url).hash.replace('#token=', '')
    const ann = await SignalClient.join(await app.url('node'), room_id, { token })
    await expect.poll(() => app.call('overview.get')).toMatchObject({ counts: { people: 1 } })
    const install = card.getByRole('button', { name: 'Install and restart' })
    const dialog = page.getByRole('dialog')
    await expect
      .poll(async () => {
        await install.click()
        const offered = await dialog.getByText('Warn them first').count()
        if (offered === 0) await dialog.getByRole('button', { name: 'Cancel' }).click()
        return offered
      })
      .toBe(1)
    await dialog.getByRole('button', { name: 'Install and restart' }).click()
    await card.getByText('People in meetings were told').waitFor()
    expect(await card.getByRole('timer').textContent()).toMatch(/^(2:00|1:\d\d)$/)
    expect((await ann.next('restart')).restarts_in_ms).toBeGreaterThan(100_000)
    expect(await violations(page)).toEqual([])
    ann.forget()
    await card.getByRole('button', { name: 'Call it off' }).click()
    expect(await ann.next('restart')).toEqual({ type: 'restart' })
    await install.click()
    await dialog.getByText('Warn them first').click()
    const ended = once(app.app.process(), 'exit')
    await page.getByRole('dialog').getByRole('button', { name: 'Install and restart' }).click()
    expect(await ended).toEqual([0, null])
    expect(await readFile(appImage, 'utf8')).toBe(next)
    await expect
      .poll(() => readFile(`${appImage}.started`, 'utf8').catch(() => ''))
      .toContain(`--user-data-dir=${app.userData}`)
    expect(await readFile(join(app.userData, 'logs/roomdesk.log'), 'utf8')).toContain('the update is installed')
  },
)

// Nobody gives the rights here: apt itself is not tested.
test.skipIf(isGenuine || process.platform !== 'linux')(
  'a Debian package asks the system for the rights; without them the app goes on and shows the command',
  async () => {
    const programs = await mkdtemp(join(tmpdir(), 'roomdesk-programs-'))
    onTestFinished(() => rm(programs, { recursive: true, force: true }))
    const asked = join(programs, 'asked')
    const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "$@" > '${asked}'\nexit 126\n`
    await writeFile(join(programs, 'pkexec'), script, { mode: 0o755 })
    await writeFile(join(programs, 'dpkg-query'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    await writeFile(join(place, name), content)
    await offer('99.0.0', createHash('sha512').update(content).digest('base64'))
    await using app = await launch({
      before: [join(import.meta.dirname, '../e2e/as-packaged.cjs')],
      env: { PATH: `${programs}:${process.env.PATH}` },
    })
    const { page } = app
    await app.open('#/settings/about')
    const card = page.getByRole('form', { name: 'Updates of this app' })
    await card.getByLabel('Address or folder').fill(place)
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByRole('button', { name: 'Check now' }).click()
    await card.getByText('The system asks for the password of an administrator').waitFor()
    // Nobody would be there to give the rights.
    expect(await card.getByText('By itself, once nobody has been in a room').count()).toBe(0)
    await card.getByRole('button', { name: 'Install and restart' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Install and restart' }).click()
    await card.getByText('The system did not give the rights to install.').waitFor()
    const file = join(app.userData, 'updates', name)
    await card.getByText(`sudo apt install ${file}`).waitFor()
    expect(await readFile(asked, 'utf8')).toContain(`apt-get install --yes --option=Dpkg::Options::=--force-confold`)
    const sha512 = createHash('sha512').update(content).digest('hex')
    expect(await readFile(asked, 'utf8')).toContain(` sh ${file} ${content.length} ${sha512}\n`)
    expect(await app.call('overview.get')).toMatchObject({ counts: { people: 0 } })
    expect(await violations(page)).toEqual([])
    if (process.env.ROOMDESK_PICTURES !== undefined)
      await card.screenshot({ path: join(process.env.ROOMDESK_PICTURES, 'updates-deb.png') })
  },
)
