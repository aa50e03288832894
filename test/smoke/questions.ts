import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningTestCamera, startTestCamera } from '../support/camera/test-camera.ts'
import type { Report } from './report.ts'
import { type Program, RunningApp } from './running-app.ts'
import { until } from './until.ts'

/** A check by a person. */
interface Question {
  name: string
  /** Instructions, and the expected result. */
  text: string
  /** First act of the person. */
  first?: string
  /** Prepares the situation in the app that the person sees. */
  prepare?: (stage: Stage) => Promise<void>
}

const hourMs = 60 * 60_000
/** Time within which a client is answered while the window is hidden, in milliseconds. */
const maxAnswerMs = 2_000

interface Stage {
  app: RunningApp
  camera: RunningTestCamera
}

export const questions: readonly Question[] = [
  {
    name: 'tray',
    text: 'Look at the tray (menu bar on macOS): the icon of Roomdesk is there and sharp, its menu opens by one click and stays open for ten seconds, and "Open Roomdesk" brings the window. Is that so?',
  },
  {
    name: 'maximized',
    text: 'Maximize the window, close it and choose "Keep Running", open it again by the tray. Does it come back maximized, without a white or black flash?',
  },
  {
    name: 'save-dialog',
    text: 'In Activity, export the list. Does a Save dialog come, is the file there afterwards, and does cancelling tell nothing of a file that was saved?',
  },
  {
    name: 'chinese-menus',
    text: 'The console is in Chinese now. Is every entry of the menus (also Edit and View) and of the tray in Chinese?',
    prepare: async ({ app }) => void (await app.call('settings.set', { console: { language: 'zh' } })),
  },
  {
    name: 'walls',
    text: 'In Settings, Displays, choose a wall for each display and open the walls. Does each cover its display whole, without taskbar, dock or menu bar? With two displays: unplug one and plug it in again, does its wall come back there? Wait longer than the display would stay on: does it? Does Ctrl+Alt+Q close them and bring the console?',
  },
  {
    name: 'notification',
    text: 'The window is to be hidden for this: close it and choose "Keep Running", then press Enter. A notification will tell that the device Film was lost. Leave it for five minutes, then click it in the notification centre. Did it come, and did the click bring the window back?',
    first: 'Enter when the window is hidden',
    prepare: async ({ app, camera }) => {
      await app.call('settings.set', { console: { language: 'en' } })
      await hidden(app)
      camera[Symbol.dispose]()
    },
  },
  {
    name: 'hour-hidden',
    text: 'The window was hidden for an hour. Open it by the tray: does it show the present at once, with charts that have no gap?',
    first:
      'Hide the window (close it and choose "Keep Running"), then press Enter, and leave the computer alone for an hour',
    prepare: async ({ app }) => {
      await hidden(app)
      const media = await app.url('media')
      for (const end = Date.now() + hourMs; Date.now() < end; await sleep(10_000)) {
        const { status } = await fetch(`${media}/openapi.json`, { signal: AbortSignal.timeout(maxAnswerMs) })
        if (status !== 200) throw new Error(`a client was answered with ${status}`)
      }
    },
  },
  {
    name: 'sleep',
    text: 'Let the computer sleep for five minutes while a camera is shown under Devices, and wake it. Does its picture go on within half a minute, and does the overview show no time that is in the future or before the sleep as the present?',
  },
  {
    name: 'upgrade',
    text: 'With an installed Roomdesk that runs with a room: install the same or a newer version over it. Does it come back by itself with the room, and does the log hold no "unexpected error"? (Answer s to do this later.)',
  },
  {
    name: 'refused-rights',
    text: 'On Windows, with Roomdesk installed for all users and a newer signed release in the place of its updates: choose "Install and restart" and refuse the rights. Does the app go on, and does the card say within a minute that the installer ended, with "Try again"? (Answer s on other systems.)',
  },
  {
    name: 'daemon-before-login',
    text: 'On macOS, as administrator: install the service (sudo …/Roomdesk --install-service --host=0.0.0.0), restart the Mac, and do not log in. Does http://<this Mac>:7083/healthz answer another machine? Remove it with --remove-service. (Answer s on other systems.)',
  },
  {
    name: 'lan-camera',
    text: 'Add a camera of the local network under Devices (on macOS allow the access to it, on Windows through the firewall). Does its picture appear?',
  },
  {
    name: 'room-from-lan',
    text: 'Set an address of this machine under Settings, copy a join link of a room and open it on another machine of the network. Do both see each other?',
  },
  {
    name: 'hidden-start',
    text: 'With an installed Roomdesk: switch on "Start at Login", log off and on. Is it in the tray, with no window, and does the tray open one? (Answer s to do this later.)',
  },
  {
    name: 'log-off',
    text: 'With an installed Roomdesk that has a room: log off while it runs, log on, start it. Is the room there, and does the log hold no "unexpected error"? (Answer s to do this later.)',
  },
]

/** Waits until the window is hidden, for five minutes at most. */
async function hidden(app: RunningApp): Promise<void> {
  const state = async (): Promise<boolean> => (await app.page.evaluate('document.visibilityState')) === 'hidden'
  await until('the window is hidden', state, 5 * 60_000)
}

/** Asks each question if a person sits at the terminal; otherwise lists them. */
export async function askQuestions(report: Report, { skip }: { skip: boolean }, program: Program): Promise<void> {
  const wanted = questions.filter(({ name }) => report.wants(`questions.${name}`))
  if (wanted.length === 0) return
  if (skip || !process.stdin.isTTY) {
    const why = skip ? 'not asked: --skip-questions' : 'not asked: there is no terminal'
    for (const { name, text } of wanted)
      report.tell({ name: `questions.${name}`, verdict: 'ASK', detail: `${text}\n(${why})`, milliseconds: 0 })
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-'))
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    using camera = await startTestCamera()
    await using app = await RunningApp.start(program, folder)
    await joinCamera(app, camera)
    for (const question of wanted) await ask(report, terminal, question, { app, camera })
  } finally {
    terminal.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  }
}

/** Adds a device, which can then be lost. */
async function joinCamera(app: RunningApp, camera: RunningTestCamera): Promise<void> {
  await until('a node is online', async () => (await app.call('nodes.list')).some(({ state }) => state === 'online'))
  const { room_id } = await app.call('rooms.create', { topic: 'Questions' })
  const device = { roomId: room_id, userId: 'film', userName: 'Film', userAddress: camera.url }
  await app.call('devices.create', { ...device, join: 'required' })
}

async function ask(
  report: Report,
  terminal: Interface,
  { name, text, first, prepare }: Question,
  stage: Stage,
): Promise<void> {
  const began = performance.now()
  console.log(`ASK   questions.${name}: ${text}`)
  let answer = ''
  try {
    if (first !== undefined) answer = await terminal.question(`      ${first} (s to skip): `)
    if (!/^s/i.test(answer)) await prepare?.(stage)
    while (!/^[yns]/i.test(answer)) answer = await terminal.question('      y(es), n(o), s(kip): ')
  } catch (error) {
    answer = `n: ${error instanceof Error ? error.message : String(error)}`
  }
  const verdict = /^y/i.test(answer) ? 'PASS' : /^n/i.test(answer) ? 'FAIL' : 'ASK'
  const detail = {
    PASS: 'a person saw it',
    FAIL: `a person answered "${answer}" to: ${text}`,
    ASK: `${text}\n(skipped)`,
  }
  report.tell({
    name: `questions.${name}`,
    verdict,
    detail: detail[verdict],
    milliseconds: Math.round(performance.now() - began),
  })
}
