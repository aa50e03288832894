import { signOut } from '../kit/transport/session.ts'
import { forgetFinds } from './find/recent-finds.ts'
import { storeDrafts } from './pages/wall/wall-storage.ts'

/** Signs out, and removes all data of the account from the browser and the page. */
export async function leaveConsole(): Promise<void> {
  forgetFinds()
  storeDrafts([])
  if (await signOut()) location.reload()
}
