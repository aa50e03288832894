// happy-dom turns an element into a text by writing out everything inside it; a browser says `[object HTMLDivElement]`. Popper asks each
// element on the way to its window so, whenever something is placed: most of the time of the page tests was that.
if ('Element' in globalThis) Element.prototype.toString = Object.prototype.toString
