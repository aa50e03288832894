// Takes a picture of every page of the console, in both themes and languages, on a site that is at work: into `screens/`, which git ignores.
// Those that docs/pictures has are replaced there, too.
// Needs Chromium and the test camera's packages (npm test installs them on Debian as root); ffmpeg makes the files small.
// `npm run screens -- rooms` takes only those whose name holds the word.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const { ensureBuild } = await import('./ensure-build.mjs')
await ensureBuild()
const { openChromium } = await import('../test/support/chromium.ts')
const { removeFolder, startHeadless } = await import('../test/support/headless.ts')
const { callUntil, fillSite, site } = await import('./screens-site.mjs')

const folder = join(import.meta.dirname, '..', 'screens')
const docsFolder = join(import.meta.dirname, '..', 'docs', 'pictures')
const wanted = process.argv[2] ?? ''
const languages = ['en', 'zh']
const themes = ['light', 'dark']
/** Time for which clients call and cameras are recorded before the last pictures, in milliseconds: the charts of the overview show 15 minutes. */
const chartsMs = 8 * 60_000
/** What a page may take to show everything, in milliseconds. */
const settleMs = 900

mkdirSync(folder, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'roomdesk-screens-'))
const browser = await openChromium()
const enough = new AbortController()
let shown
let calling
let controller
try {
  // The usual ports, as a reader will find them.
  controller = await startHeadless({
    folder: join(work, 'site'),
    site,
    ports: 'settings',
    flags: ['--log-level', 'error'],
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  if (wanted === '' || 'sign-in'.includes(wanted)) await takeSignIn()
  const key = readFileSync(join(controller.folder, 'console.key'), 'utf8').trim()
  await page.goto(`${controller.ready.console}/#key=${key}`)
  await page.getByRole('navigation').first().waitFor()
  const [first] = pictures({})
  await each(page, [first])
  await controller.rpc('overview.dismiss_welcome', {})
  shown = await fillSite(controller)
  calling = callUntil(controller, shown, enough.signal)
  const grown = sleep(chartsMs, undefined, { ref: false })
  const later = ({ name }) => ['overview', 'recordings', 'recordings-ordered'].includes(name)
  await each(
    page,
    pictures(shown).filter((picture) => picture.name !== 'welcome' && !later(picture)),
  )
  if (pictures(shown).some((picture) => later(picture) && picture.name.includes(wanted))) await grown
  await each(page, pictures(shown).filter(later))
} catch (error) {
  const seen = join(tmpdir(), 'roomdesk-screens-failed.png')
  await browser.contexts().at(-1)?.pages()[0]?.screenshot({ path: seen })
  console.error(`What the page showed then: ${seen}`)
  throw error
} finally {
  enough.abort()
  await calling
  await browser.close()
  await controller?.stop()
  await shown?.end()
  if (controller) await removeFolder(controller.folder)
  rmSync(work, { recursive: true, force: true })
}
const total = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
console.log(`${readdirSync(folder).length} pictures, ${(total / 1e6).toFixed(1)} MB, in ${folder}`)

/** Every picture: its name, its route, and what is done there before it is taken. Welcome is the first. */
function pictures({ room, device, wall, node, credential, recorded }) {
  const press = (page, name) => page.locator('main').getByRole('button', { name }).first().click()
  return [
    { name: 'welcome', route: '/welcome/purpose' },
    { name: 'credentials', route: `/credentials/${credential}` },
    { name: 'rooms', route: `/rooms/${room}` },
    { name: 'nodes', route: `/nodes/${encodeURIComponent(node)}` },
    { name: 'devices', route: `/devices/${device}`, settle: 3_500 },
    { name: 'wall', route: `/wall/${wall}`, settle: 3_500 },
    { name: 'device-add', route: '/devices', act: addDevice },
    {
      name: 'activity',
      route: '/activity',
      act: (page) => page.getByRole('row').filter({ hasText: 'authenticate' }).first().click(),
    },
    {
      name: 'events',
      route: '/events',
      act: (page) =>
        page
          .getByRole('row')
          .filter({ hasText: /Settings changed|设置已更改/ })
          .first()
          .click(),
    },
    { name: 'tester', route: '/tester', act: (page) => press(page, /^(Send|发送)/) },
    { name: 'settings', route: '/settings/network' },
    { name: 'settings-backups', route: '/settings/data' },
    { name: 'settings-accounts', route: '/settings/accounts' },
    { name: 'readiness', route: '/readiness', settle: 6_000 },
    { name: 'trash', route: '/trash' },
    { name: 'help', route: '/help' },
    { name: 'certificate', route: '/certificate' },
    { name: 'lab', route: '/lab' },
    { name: 'recordings', route: `/recordings?room=${recorded}`, settle: 3_500 },
    { name: 'recordings-ordered', route: '/recordings/ordered' },
    { name: 'overview', route: '/overview' },
  ]
}

/** Adds a camera as far as the probe, which finds that the password is wrong. */
async function addDevice(page) {
  await page
    .locator('main')
    .getByRole('button', { name: /Add device|添加设备/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog').first()
  const { userAddress } = (await controller.rpc('devices.list', {})).find(({ userId }) => userId === 'control-1')
  await dialog.locator('input[inputmode="url"]').first().fill(userAddress.replace('rtsp://', 'rtsp://viewer:mistyped@'))
  await dialog.locator('[data-step-next]').click()
  await dialog.locator('input[type="password"]').waitFor()
  await dialog.locator('[data-step-next]').click()
  await page.waitForTimeout(1_500)
}

/** The page of those who are not signed in speaks the browser's language. */
async function takeSignIn() {
  for (const language of languages) {
    for (const colorScheme of themes) {
      const locale = language === 'zh' ? 'zh-CN' : 'en-GB'
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale, colorScheme })
      await page.goto(controller.ready.console)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await take(page, `sign-in-${language}-${colorScheme}`)
      await page.close()
    }
  }
}

async function each(page, list) {
  for (const { name, route, act, settle = settleMs } of list) {
    if (!name.includes(wanted)) continue
    for (const language of languages) {
      for (const theme of themes) {
        await controller.rpc('settings.set', { console: { language, theme } })
        await page.goto(`${controller.ready.console}/#${route}`)
        // A new page of the same route starts over.
        await page.reload()
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForTimeout(settleMs)
        if (act) await act(page)
        await page.mouse.move(640, 799)
        await page.waitForTimeout(settle)
        await take(page, `${name}-${language}-${theme}`)
      }
    }
  }
}

/** A picture of at most 256 colours, where ffmpeg is there: a quarter of the size, and the same to the eye. */
async function take(page, name) {
  const [raw, small, file] = [join(work, 'raw.png'), join(work, 'small.png'), join(folder, `${name}.png`)]
  await page.screenshot({ path: raw })
  const filter = 'split[a][b];[a]palettegen=max_colors=256:stats_mode=full[p];[b][p]paletteuse=dither=none'
  const arguments_ = ['-v', 'error', '-y', '-i', raw, '-vf', filter, '-compression_level', '9', '-pred', 'none', small]
  const { status } = spawnSync('ffmpeg', arguments_, { stdio: ['ignore', 'ignore', 'inherit'] })
  copyFileSync(status === 0 ? small : raw, file)
  const shown = join(docsFolder, `${name}.png`)
  if (existsSync(shown)) copyFileSync(file, shown)
  console.error(`${name} ${(statSync(file).size / 1_000).toFixed(0)} kB`)
}
