import { EventEmitter } from 'node:events'
import { app } from './app.mjs'
import { defaultsOf } from './menu-roles.mjs'
import { strict } from './strict.mjs'

let applicationMenu = null

class Item {
  constructor(options) {
    const given = { ...defaultsOf(options.role), ...options }
    const type = given.submenu ? 'submenu' : 'normal'
    Object.assign(
      this,
      { id: '', label: '', enabled: true, visible: true, checked: false, type, accelerator: '', submenu: undefined },
      given,
      { role: options.role?.toLowerCase() ?? '' },
    )
    if (Array.isArray(given.submenu)) this.submenu = buildFromTemplate(given.submenu)
    this.click = () => {
      if (this.type === 'checkbox') this.checked = !this.checked
      if (options.click) options.click(strict('MenuItem', this), undefined, {})
      else if (options.role === 'quit') app.quit()
    }
    return strict('MenuItem', this)
  }
}

function buildFromTemplate(template) {
  const items = template.map((options) => new Item(options))
  const getMenuItemById = (id) => {
    for (const item of items) {
      const found = item.id === id ? item : item.submenu?.getMenuItemById(id)
      if (found) return found
    }
    return null
  }
  return strict('Menu', Object.assign(new EventEmitter(), { items, getMenuItemById }))
}

export const Menu = strict('Menu', {
  buildFromTemplate,
  setApplicationMenu: (menu) => void (applicationMenu = menu),
  getApplicationMenu: () => applicationMenu,
})

class TrayIcon extends EventEmitter {
  constructor(image) {
    super()
    this._image = image
    return strict('Tray', this)
  }
  setImage(image) {
    this._image = image
  }
  setToolTip(text) {
    this._toolTip = text
  }
  setContextMenu(menu) {
    this._menu = menu
  }
}

export const Tray = strict('Tray', TrayIcon)
