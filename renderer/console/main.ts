import './styles/element.ts'
import { createApp } from 'vue'
import App from './App.vue'
import { installConsole } from './composables/useConsole.ts'
import { applyRememberedLook } from './composables/usePreferences.ts'
import { installTexts } from './i18n/index.ts'
import { installConsoleKit } from './installConsoleKit.ts'
import { loadAnewWhenNeeded, makeRouter } from './router.ts'
import { consoleClient } from '../kit/transport/client.ts'
import { ipcTransport } from '../kit/transport/ipc.ts'
import { signIn, takeKey } from '../kit/transport/session.ts'
import { webSocketTransport } from '../kit/transport/websocket.ts'

/** Starts the page: with the desktop's bridge if there is one, else with the WebSocket of the headless console. */
async function start(): Promise<void> {
  // Must run before the router reads the address, which must not contain the key.
  const key = window.roomdesk ? null : takeKey(location, history)
  const look = applyRememberedLook()
  const client = consoleClient(window.roomdesk ? ipcTransport(window.roomdesk) : webSocketTransport())
  const app = createApp(App, { keyOutcome: key === null ? null : await signIn({ key }) })
  installConsole(app, client)
  installTexts(app)
  installConsoleKit(app)
  const router = makeRouter()
  loadAnewWhenNeeded(router, client)
  app.use(router)
  client.open()
  // If the texts of the language cannot be loaded, the console is shown in English.
  await look.catch((error: unknown) => console.error(error))
  app.mount('#app')
}

void start()
