/// <reference types="node" />
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mount } from '@vue/test-utils'
import { onTestFinished } from 'vitest'
import type { Component } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { installConsole } from '../../../renderer/console/composables/useConsole.ts'
import { installTexts } from '../../../renderer/console/i18n/index.ts'
import MessageHost from '../../../renderer/kit/messages/MessageHost.vue'
import { consoleClient } from '../../../renderer/kit/transport/client.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { plain } from '../../../renderer/kit/transport/transport.ts'
import type { SiteKeyView } from '../../../shared/console/site.ts'
import { Controller } from '../../../server/controller/controller.ts'
import type { ConsoleCaller } from '../../../server/console/callers.ts'
import type { FixedCompatibility } from '../../../server/http/older-clients.ts'
import { createLog } from '../../../server/observe/log.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import { eventually } from '../eventually.ts'

/**
 * A real controller with a simulated node, and a client of the console: calls and events as over IPC. It stops with the test.
 * @param prepare fills the data folder before the start.
 * @param compatibility start flags.
 * @param cores number of cores; default: those of the machine.
 * @param siteKey site key as on the desktop; default: as headless.
 * @returns `as`: a client of the same controller for another caller
 */
export async function operator(
  prepare?: (folder: string) => Promise<void>,
  compatibility: FixedCompatibility = {},
  cores?: number,
  siteKey?: SiteKeyView,
): Promise<ConsoleClient & { as(caller: Partial<Omit<ConsoleCaller, 'way'>>): ConsoleClient }> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-page-'))
  await prepare?.(folder)
  const controller = await Controller.open({
    dataFolder: folder,
    logger: createLog('silent'),
    version: 'test',
    media: {
      spawn() {
        throw new Error('this site has no embedded node')
      },
      pageFolder: '',
    },
    site: siteFileSchema.parse({ nodes: [{ name: 'lab', kind: 'simulated' }] }),
    compatibility,
    cores,
    ...(siteKey === undefined ? {} : { siteKey }),
    overrides: { media_port: 0, device_port: 0, node_port: 0 },
  })
  await controller.start()
  onTestFinished(async () => {
    await controller.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const as = (caller: Partial<Omit<ConsoleCaller, 'way'>> = {}): ConsoleClient =>
    consoleClient({
      kind: 'ipc',
      call: (name, input) =>
        controller.dispatch(name, plain(input), { transport: 'ipc', client: '', role: 'admin', ...caller }),
      onEvent: (listener) => controller.hub.listen(listener),
      state: () => 'online',
      onState: () => () => undefined,
      open: () => undefined,
      close: () => undefined,
    })
  return Object.assign(as(), { as })
}

/** Mounts a component of the console like the page, until the end of the test. */
export function show(component: Component, client: ConsoleClient, props: Record<string, unknown> = {}) {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: { template: '' } }],
  })
  const shown = mount(component, {
    props,
    attachTo: document.body,
    global: {
      plugins: [router, { install: installTexts }, { install: (app) => installConsole(app, client) }],
    },
  })
  onTestFinished(() => shown.unmount())
  showMessages()
  return shown
}

let hasMessages = false

/** Shows messages, as the console does beside its pages, until the end of the test. */
function showMessages(): void {
  if (hasMessages) return
  hasMessages = true
  const host = mount(MessageHost, { attachTo: document.body })
  onTestFinished(() => {
    host.unmount()
    hasMessages = false
  })
}

/** Text on the page, dialogs and messages included. */
export const pageText = (): string => (document.body.textContent ?? '').replace(/\s+/g, ' ')

/** Resolves when the text is on the page. */
export const says = (text: string): Promise<void> =>
  eventually(() => {
    if (!pageText().includes(text)) throw new Error(`the page does not say "${text}": ${pageText().slice(0, 2_000)}`)
  })

/** Presses the button with this name. */
export async function press(name: string): Promise<void> {
  const button = await eventually(() => {
    const found = [...document.querySelectorAll('button')].find(
      (one) => one.textContent?.trim() === name && !one.disabled && one.checkVisibility(),
    )
    if (!found) throw new Error(`there is no button "${name}": ${pageText().slice(0, 2_000)}`)
    return found
  })
  button.click()
}

/** Waits for the field with this label. */
export function fieldOf(label: string): Promise<HTMLInputElement> {
  return eventually(() => {
    const found = [...document.querySelectorAll('label')].find((one) => one.textContent?.trim().startsWith(label))
    const field = found && document.getElementById(found.htmlFor)
    const input = field instanceof HTMLInputElement ? field : field?.querySelector('input')
    if (!input) throw new Error(`there is no field "${label}": ${pageText().slice(0, 2_000)}`)
    return input
  })
}

/** Types into the field with this label. */
export async function write(label: string, text: string): Promise<void> {
  const input = await fieldOf(label)
  input.value = text
  input.dispatchEvent(new Event('input', { bubbles: true }))
}
