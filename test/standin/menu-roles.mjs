// Roles of menu items in Electron (lib/browser/api/menu-item-roles.ts): their labels are English on every system in every language.
import { app } from './app.mjs'

const isMac = () => process.platform === 'darwin'
const ofPlatform = (mac, windows, other) =>
  process.platform === 'darwin' ? mac : process.platform === 'win32' ? windows : other

/** Label, accelerator and submenu by role, in lower case. */
const roles = {
  about: { label: () => (process.platform === 'linux' ? 'About' : `About ${app.name}`) },
  close: { label: () => ofPlatform('Close Window', 'Close', 'Close'), accelerator: 'CommandOrControl+W' },
  copy: { label: 'Copy', accelerator: 'CommandOrControl+C' },
  cut: { label: 'Cut', accelerator: 'CommandOrControl+X' },
  delete: { label: 'Delete' },
  front: { label: 'Bring All to Front' },
  help: { label: 'Help' },
  hide: { label: () => `Hide ${app.name}`, accelerator: 'Command+H' },
  hideothers: { label: 'Hide Others', accelerator: 'Command+Alt+H' },
  minimize: { label: 'Minimize', accelerator: 'CommandOrControl+M' },
  paste: { label: 'Paste', accelerator: 'CommandOrControl+V' },
  quit: { label: () => ofPlatform(`Quit ${app.name}`, 'Exit', 'Quit'), accelerator: 'CommandOrControl+Q' },
  redo: { label: 'Redo', accelerator: 'Shift+CommandOrControl+Z' },
  reload: { label: 'Reload', accelerator: 'CmdOrCtrl+R' },
  resetzoom: { label: 'Actual Size', accelerator: 'CommandOrControl+0' },
  selectall: { label: 'Select All', accelerator: 'CommandOrControl+A' },
  toggledevtools: { label: 'Toggle Developer Tools', accelerator: 'Ctrl+Shift+I' },
  togglefullscreen: { label: 'Toggle Full Screen', accelerator: 'F11' },
  undo: { label: 'Undo', accelerator: 'CommandOrControl+Z' },
  unhide: { label: 'Show All' },
  zoom: { label: 'Zoom' },
  zoomin: { label: 'Zoom In', accelerator: 'CommandOrControl+Plus' },
  zoomout: { label: 'Zoom Out', accelerator: 'CommandOrControl+-' },
  windowmenu: { label: 'Window', submenu: () => [item('minimize'), item('zoom'), item('front')] },
  editmenu: {
    label: 'Edit',
    submenu: () => [
      ...['undo', 'redo', undefined, 'cut', 'copy', 'paste', 'delete'].map(item),
      ...(isMac() ? [] : [item(undefined)]),
      item('selectAll'),
    ],
  },
}

function item(role) {
  return role === undefined ? { type: 'separator' } : { role }
}

/** Returns a role's defaults for an item. @param {string | undefined} role */
export function defaultsOf(role) {
  if (role === undefined) return {}
  const found = roles[role.toLowerCase()]
  if (!found) throw new Error(`stand-in: the role ${role} of a menu item is not modelled`)
  const { label, accelerator, submenu } = found
  return {
    label: typeof label === 'function' ? label() : label,
    ...(accelerator === undefined ? {} : { accelerator }),
    ...(submenu === undefined ? {} : { submenu: submenu() }),
  }
}
