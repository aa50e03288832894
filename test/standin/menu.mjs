import { EventEmitter } from 'node:events'
import { app } from './app.mjs'
import { strict } from './strict.mjs'

let applicationMenu = null

class Item {
  constructor(options) {
    const type = options.submenu ? 'submenu' : options.role ? 'role' : 'normal'
    Object.assign(
      this,
      { id: '', label: '', enabled: true, visible: true, checked: false, type, accelerator: '', role: '' },
      options,
    )
    if (Array.isArray(options.submenu)) this.submenu = buildFromTemplate(options.submenu)
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
      const found = item.id === id ? item : 'submenu' in item ? item.submenu.getMenuItemById(id) : null
      if (found) return found
    }
    return null
  }
  return strict('Menu', { items, getMenuItemById })
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
