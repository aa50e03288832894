import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { violations } from '../support/axe.ts'
import { readyLines } from '../support/headless.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { UpdatePublisher } from '../support/update-publisher.ts'
import { type Desktop, electronExecutable, isGenuine, keychain, launch } from '../e2e/desktop.ts'
import { built } from '../support/built.ts'

const root = resolve(import.meta.dirname, '../..')
const publisher = new UpdatePublisher()
/** Folder of the updates. */
let place: string
/** App of the publisher, in a folder of its own. */
let folder: string
let desktop: Desktop
const content = Buffer.alloc(50_000, 'new')
const name = 'Roomdesk-99.0.0.deb'

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'roomdesk-release-'))
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-app-'))
  await mkdir(join(folder, 'packaging'))
  await writeFile(join(folder, publisherKeysFile), publisher.publicPem)
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(built(''), join(folder, 'dist'), 'junction')
  for (const part of ['assets', 'node_modules']) await symlink(join(root, part), join(folder, part), 'junction')
  desktop = await launch({ folder })
})
afterAll(async () => {
  await desktop[Symbol.asyncDispose]()
  for (const made of [place, folder]) await rm(made, { recursive: true, force: true })
})

const descriptionFile = process.arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${process.arch}.yml`
/** Puts the description of a release into the folder. @param signer null: it is not signed */
async function offer(version: string, sha512: string, url = name, signer: UpdatePublisher | null = publisher) {
  const description = JSON.stringify({
    version,
    files: [{ url, sha512, size: content.length }],
    releaseNotes: '### Added\n\n- Faster walls.',
  })
  await writeFile(join(place, descriptionFile), description)
  await rm(join(place, `${descriptionFile}.sig`), { force: true })
  if (signer !== null) await writeFile(join(place, `${descriptionFile}.sig`), signer.sign(description))
}

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

  // A whole release, as anyone with access to the folder can put there, but without a signature of the publisher.
  const sha512 = createHash('sha512').update(content).digest('base64')
  await writeFile(join(place, name), content)
  await offer('99.0.0', sha512, name, null)
  await check.click()
  await card.getByText('The release is not signed').waitFor()
  expect(await violations(page)).toEqual([])
  await offer('99.0.0', sha512, name, new UpdatePublisher())
  await check.click()
  await card.getByText('was signed with a key that this app does not know').waitFor()

  // An old release with its own signature.
  await offer('0.0.1', sha512)
  await check.click()
  await card.getByText('Nothing newer was found').waitFor()

  await offer('99.0.0', createHash('sha512').update('other').digest('base64'))
  await check.click()
  await card.getByText(`${name} is not the file that the release names`).waitFor()

  await offer('99.0.0', sha512)
  await check.click()
  await card.getByText('Version 99.0.0 is ready to install').waitFor()
  await card.getByText('Faster walls.').waitFor()
  await card.getByText('the publisher of this app signed it').waitFor()
  // A .deb needs rights: nothing offers to install it.
  await card.getByText(join(desktop.userData, 'updates', name)).waitFor()
  expect(await card.getByRole('button', { name: 'Install and restart' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
})

test("a build without its publisher's key installs no updates, and shows the reason in place of the form", async () => {
  await using unkeyed = await launch()
  const { page } = unkeyed
  await unkeyed.open('#/settings/about')
  const card = page.getByRole('form', { name: 'Updates of this app' })
  await card.getByText('This build takes no updates').waitFor()
  expect(await card.getByLabel('Address or folder').count()).toBe(0)
  expect(await violations(page)).toEqual([])
})

// The app on Electron itself is not an AppImage that a test could replace.
test.skipIf(isGenuine)(
  'an AppImage is replaced and shuts down cleanly, and the new one starts on its own with the same arguments',
  async () => {
    const apps = await mkdtemp(join(tmpdir(), 'roomdesk-apps-'))
    onTestFinished(() => rm(apps, { recursive: true, force: true }))
    const appImage = join(apps, 'Roomdesk.AppImage')
    await writeFile(appImage, 'old')
    const next = `#!/bin/sh\necho "$@" > "$0.part"\nmv "$0.part" "$0.started"\n`.padEnd(content.length)
    await writeFile(join(place, 'Roomdesk-99.0.0.AppImage'), next)
    await offer('99.0.0', createHash('sha512').update(next).digest('base64'), 'Roomdesk-99.0.0.AppImage')

    await using app = await launch({
      folder,
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
      folder,
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

// A Mac has a bundle in place of the AppImage; launchd starts what did not end with 0.
test.skipIf(isGenuine || process.platform !== 'linux')(
  'a service whose program was replaced ends in order, so that its manager starts the new one',
  async () => {
    const apps = await mkdtemp(join(tmpdir(), 'roomdesk-service-'))
    onTestFinished(() => rm(apps, { recursive: true, force: true, maxRetries: 5 }))
    const appImage = join(apps, 'Roomdesk.AppImage')
    await writeFile(appImage, 'old')
    const hurried = ['-r', join(import.meta.dirname, 'hurried-service.cjs')]
    const ports = ['media', 'device', 'node', 'console'].map((port) => `--${port}-port=0`)
    const folders = [`--user-data-dir=${join(apps, 'app')}`, `--data-dir=${join(apps, 'site')}`]
    const service = spawn(electronExecutable, [...hurried, root, '--headless', '--service', ...folders, ...ports], {
      env: { ...process.env, ...keychain('none'), APPIMAGE: appImage },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void service.kill('SIGKILL'))
    const ended = once(service, 'exit')
    expect((await readyLines(service.stdout).next()).value).toBeDefined()
    await writeFile(`${appImage}.new`, 'new')
    await rename(`${appImage}.new`, appImage)
    expect(await ended).toEqual([70, null])
    expect(await readFile(join(apps, 'logs/roomdesk.log'), 'utf8')).toContain('the program was replaced')
  },
)
