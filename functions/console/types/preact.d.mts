// The parts of preact that the page uses, for type checking.
export const h: (...given: any[]) => any;
export const render: (what: any, into: Element | null) => void;
export const createRef: () => { current: any };
export class Component { props: any; state: any; setState(state: any): void; }
