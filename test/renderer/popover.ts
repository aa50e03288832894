/** happy-dom has the attribute `popover` and not its methods: here a popover only reports that it is shown or hidden. */
function toggle(element: HTMLElement, newState: 'open' | 'closed'): void {
  element.dispatchEvent(Object.assign(new Event('toggle'), { newState }))
}

if (typeof HTMLElement !== 'undefined') {
  HTMLElement.prototype.showPopover = function show(this: HTMLElement) {
    toggle(this, 'open')
  }
  HTMLElement.prototype.hidePopover = function hide(this: HTMLElement) {
    toggle(this, 'closed')
  }
}
