import { app, type Session, shell, type WebContents, type WebPreferences } from 'electron'
import { origin } from './app-scheme.ts'
import { sandboxFor, type SandboxState } from './sandbox.ts'

/**
 * Returns the preferences of every window: no Node in the page, and a context separate from the preload's.
 * @param partition name of the session's partition; default: the operator's
 */
export function secureWebPreferences(preload: string, partition?: string): WebPreferences {
  return {
    preload,
    ...(partition !== undefined && { partition }),
    sandbox: true,
    contextIsolation: true,
    webSecurity: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webviewTag: false,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
    spellcheck: false,
    devTools: !app.isPackaged,
  }
}

/**
 * Applies settings before the app is ready: every renderer is sandboxed, and every web contents is guarded from the
 * start.
 * @param notOpened called if a page could not be opened in the operator's browser
 * @returns state of the sandbox
 */
export function hardenApp(notOpened: (error: unknown) => void): SandboxState {
  const { platform, argv } = process
  const sandbox = sandboxFor({ platform, argv, uid: process.getuid?.(), isPackaged: app.isPackaged })
  if (sandbox === 'on') app.enableSandbox()
  app.on('web-contents-created', (_event, contents) => guard(contents, notOpened))
  return sandbox
}

/**
 * Permissions of the console's page: copying text, and keeping the screen on for a wall. Also connecting to MCU nodes
 * on this machine and in the local network for previews, if Chromium requires a permission for it (Local Network
 * Access). The content security policy restricts all other connections to the page's own origin.
 */
const allowed: ReadonlySet<string> = new Set([
  'clipboard-sanitized-write',
  'screen-wake-lock',
  'local-network-access',
  'local-network',
  'loopback-network',
])

/**
 * Denies every other permission, and every device, in the sessions of the app's pages. Must be called when the app is
 * ready.
 */
export function denyPermissions(sessions: readonly { session: Session }[]): void {
  const allows = (permission: string, url: string): boolean => allowed.has(permission) && isOurs(url)
  for (const { session } of sessions) {
    session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl }) =>
      answer(allows(permission, requestingUrl)),
    )
    // Chromium first checks most permissions, and then requests those that the check denies.
    session.setPermissionCheckHandler((_contents, permission, requestingOrigin) => allows(permission, requestingOrigin))
    session.setDevicePermissionHandler(() => false)
  }
}

/** Whether a URL belongs to the app's page. */
export function isOurs(url: string): boolean {
  return url === origin || url.startsWith(`${origin}/`)
}

function guard(contents: WebContents, notOpened: (error: unknown) => void): void {
  const stay = (event: { preventDefault: () => void; url: string }): void => {
    if (!isOurs(event.url)) event.preventDefault()
  }
  contents.on('will-navigate', stay)
  contents.on('will-frame-navigate', stay)
  contents.on('will-redirect', stay)
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url)?.catch(notOpened)
    return { action: 'deny' }
  })
}

/** The newest room page that the controller issued to the operator; on a site without a certificate it uses http. */
let roomPage = ''

/** Lets the console open a room page in the browser, once. @param url an address issued by the controller */
export function allowRoomPage(url: string): void {
  roomPage = url
}

/** Opens a web page in the operator's browser. Other schemes are refused, because they could start programs. */
function openOutside(url: string): Promise<void> | undefined {
  const protocol = URL.parse(url)?.protocol
  if (protocol !== 'https:' && !(protocol === 'http:' && url === roomPage)) return undefined
  roomPage = ''
  return shell.openExternal(url)
}
